import type { EntryId, MessageEntry } from '../../../transcript/entry.ts'
import { toBlocks } from '../../../wire/message.ts'
import { findPairs } from './finish.ts'
import type { RecordedSession, UnansweredToolUse } from './recorded-session.ts'

/** Why an entry is not part of the unrolled conversation. */
export type LeftOutReason =
  /** A boundary: what it replaced is here in full. */
  | 'boundary'
  /** The recorded agent's summary (for Codex, the whole history after the compaction): it repeats what is here in full. */
  | 'summary'
  /** Added again by the recorded agent after its compaction; its first appearance is here. */
  | 'restored'
  /** A copy that one of our boundaries keeps; the original is here. */
  | 'copied'
  /** A marker of the recorded agent's own clearing. The results it cleared are here in full. */
  | 'marker'
  /** An answer interrupted before its first block: it is empty, and the API refuses empty messages. */
  | 'empty'

export interface UnrolledSession {
  /** Only messages, in order, each following the one before it. */
  readonly entries: readonly MessageEntry[]
  readonly leftOut: readonly { readonly id: EntryId; readonly why: LeftOutReason }[]
  /** Tool uses without a result. A replay must answer them; this makes up no text. */
  readonly unanswered: readonly UnansweredToolUse[]
}

/**
 * The history as one conversation that continues across the recorded agent's compactions and clearings, as if its window were unlimited.
 * It leaves out nothing that was said, called or seen for the first time, and adds nothing.
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
