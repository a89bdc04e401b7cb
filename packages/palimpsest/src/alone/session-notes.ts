import { factsOf } from '../facts/facts-of.ts'
import { computedNotes } from '../layers/3-session-memory/computed.ts'
import { notesPrompt, readNotes } from '../layers/3-session-memory/prompt.ts'
import { TEMPLATE } from '../layers/3-session-memory/template.ts'
import { readingFor, viewOfHistory, type HistoryMessage, type LayerOptions } from './history.ts'

export interface SessionNotesOptions extends LayerOptions {
  /** Headings, each with a line that says what belongs there. Absent: ten sections for coding work. */
  readonly template?: string | undefined
  /** What the notes say so far. Absent: what can be said without a model. */
  readonly notes?: string | undefined
}

export interface SessionNotesOutcome {
  /** The notes so far: yours, or what the history shows without a model: words of the user, files, commands, errors, to-dos. */
  readonly notes: string
  /** The text to send as one more user message after the same history, so that the cache is read and a model writes the notes. */
  readonly prompt: string
  /** The notes in the model's answer; undefined if it has none. */
  readonly read: (answer: string) => string | undefined
}

/**
 * Layer 3 alone: notes of a conversation, at no cost, and the request for a model to update them. `compaction` accepts them as its summary.
 *
 * @example
 * const { notes } = sessionNotes(history)
 * const compacted = await compaction(history, { notes })
 */
export function sessionNotes(
  history: readonly HistoryMessage[],
  options: SessionNotesOptions = {},
): SessionNotesOutcome {
  const template = options.template ?? TEMPLATE
  const { scale } = readingFor(options).window
  const notes = options.notes ?? computedNotes(factsOf(viewOfHistory(history)), template)
  return { notes, prompt: notesPrompt({ template, notes, scale }), read: readNotes }
}
