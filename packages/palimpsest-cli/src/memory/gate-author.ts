import type { Evidence, MemoryOutcome } from 'palimpsest/memory'
import type { Entry } from 'palimpsest/transcript'

/** The author of what is written through a gate. */
export interface GateAuthor {
  readonly by: 'agent' | 'extract'
  readonly reason: string
  /** Ids of messages, by the short names that the model was given. */
  readonly ids?: ReadonlyMap<string, string> | undefined
  /** Time in milliseconds: a proposal that names no messages rests on what was said since then. */
  readonly mark?: number | undefined
  /** Every write is meant for memory. */
  readonly isConfined?: boolean | undefined
  /** What was said, and by whom. Absent: taken from the conversation. */
  readonly evidence?: ((entries: readonly Entry[]) => readonly Evidence[]) | undefined
  /** What a stored memory says about its own trust does not count. */
  readonly distrustsStored?: boolean | undefined
  /** Options of `palimpsest memory` that select these memories. */
  readonly flags?: string | undefined
  /** Why memories other than its own cannot be written. */
  readonly elsewhere?: string | undefined
  /** Called with every outcome. */
  readonly onJudged: (outcome: MemoryOutcome) => void
}
