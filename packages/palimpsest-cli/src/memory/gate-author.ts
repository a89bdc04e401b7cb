import type { Evidence, MemoryOutcome } from 'palimpsest/memory'
import type { Entry } from 'palimpsest/transcript'

/** Who writes through a gate. */
export interface GateAuthor {
  readonly by: 'agent' | 'extract'
  readonly reason: string
  /** Ids of messages, by the short names that the model was given. */
  readonly ids?: ReadonlyMap<string, string> | undefined
  /** A time: a proposal that names no messages rests on what was said since. */
  readonly mark?: number | undefined
  /** Everything that is written is for memory. */
  readonly isConfined?: boolean | undefined
  /** What was said, by whom. Left out: as the conversation has it. */
  readonly evidence?: ((entries: readonly Entry[]) => readonly Evidence[]) | undefined
  /** What a stored memory says of its own trust does not count. */
  readonly distrustsStored?: boolean | undefined
  /** What `palimpsest memory` is told to find these memories. */
  readonly flags?: string | undefined
  /** Why a memory that is not its own cannot be written. */
  readonly elsewhere?: string | undefined
  /** Told of every judgement. */
  readonly onJudged: (outcome: MemoryOutcome) => void
}
