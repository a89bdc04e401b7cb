import type { EntryId, MessageEntry } from '../../../transcript/entry.ts'
import { toBlocks } from '../../../wire/message.ts'
import { findPairs } from './finish.ts'
import type { RecordedSession, UnansweredToolUse } from './recorded-session.ts'

/** Why an entry is not part of the unrolled conversation. */
export type LeftOutReason =
  /** A boundary: what it replaced is here in full. */
  | 'boundary'
  /** The recorded agent's summary (for Codex, the whole history it went on with): it says again what is here in full. */
  | 'summary'
  /** Put in again by the recorded agent after its compaction; the first showing is here. */
  | 'restored'
  /** A copy that a boundary of ours keeps; the original is here. */
  | 'copied'
  /** A marker of the recorded agent's own clearing. The results it cleared are here in full. */
  | 'marker'
  /** An answer broken off before its first block: nothing was said, and the API refuses empty messages. */
  | 'empty'

export interface UnrolledSession {
  /** Messages alone, in order, each following the one before it. */
  readonly entries: readonly MessageEntry[]
  readonly leftOut: readonly { readonly id: EntryId; readonly why: LeftOutReason }[]
  /** Tool uses without a result. Whoever replays must answer them; no text is made up here. */
  readonly unanswered: readonly UnansweredToolUse[]
}

/**
 * The history as one conversation that goes on across the recorded agent's compactions and clearings, as if its window had no bound.
 * Nothing that anybody said, called or saw for the first time is left out, and nothing is added.
 */
export function unroll(session: RecordedSession): UnrolledSession {
  const entries: MessageEntry[] = []
  const leftOut: { id: EntryId; why: LeftOutReason }[] = []
  for (const entry of session.entries) {
    if (entry.kind === 'boundary') leftOut.push({ id: entry.id, why: 'boundary' })
    else if (entry.kind !== 'message') leftOut.push({ id: entry.id, why: 'marker' })
    else if (entry.part === 'summary') leftOut.push({ id: entry.id, why: 'summary' })
    else if (entry.part === 'attachment') leftOut.push({ id: entry.id, why: 'restored' })
    else if (entry.part === 'kept') leftOut.push({ id: entry.id, why: 'copied' })
    else if (toBlocks(entry.message.content).length === 0) leftOut.push({ id: entry.id, why: 'empty' })
    else entries.push({ ...entry, parent: entries.at(-1)?.id ?? null })
  }
  return { entries, leftOut, unanswered: findPairs(entries).unanswered }
}
