import { factsOf } from '../facts/facts-of.ts'
import { computedNotes } from '../layers/3-session-memory/computed.ts'
import { notesPrompt, readNotes } from '../layers/3-session-memory/prompt.ts'
import { TEMPLATE } from '../layers/3-session-memory/template.ts'
import { readingFor, viewOfHistory, type HistoryMessage, type LayerOptions } from './history.ts'

export interface SessionNotesOptions extends LayerOptions {
  /** Headings, each with a line that says what belongs there. Left out: ten sections for work on code. */
  readonly template?: string | undefined
  /** What the notes say so far. Left out: what can be said without a model. */
  readonly notes?: string | undefined
}

export interface SessionNotesOutcome {
  /** The notes so far: yours, or what the history says without a model: words of the user, files, commands, errors, to-dos. */
  readonly notes: string
  /** The text to send as one more user message behind the same history, so that the cache is read, to have a model write them. */
  readonly prompt: string
  /** The notes in what the model answered; undefined where it holds none. */
  readonly read: (answer: string) => string | undefined
}

/**
 * Layer 3 alone: notes of a conversation, at no cost, and the request that has a model bring them up to date. `compaction` takes them
 * as its summary.
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
