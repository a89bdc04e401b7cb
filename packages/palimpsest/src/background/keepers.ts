import type { NamedBody } from '../situation/session.ts'
import type { Sizing } from '../situation/size-of.ts'
import type { Thresholds } from '../situation/thresholds.ts'
import type { EntryId } from '../transcript/entry.ts'
import type { ThinkingPolicy } from '../transcript/settle.ts'
import type { View } from '../transcript/view.ts'
import type { ModelFacts } from '../wire/model-facts.ts'

// What a turn asks of those who work beside it. Each layer has its own; the turn starts them, takes what they bring, and waits for none.

/** At a compaction, and where a process ends, notes that are being written are waited for, at most so long. */
export const NOTES_WAIT_MS = 15_000

export interface NotesLimits extends Sizing {
  readonly sizeTokens: number
  readonly warningTokens: number
  /** What a request may hold: one for notes must fit too. */
  readonly blockingTokens: number
  /** No compaction is coming that they could serve: nothing compacts, the provider writes its own summary, or clearing will make the room. */
  readonly isSpared?: (() => boolean) | undefined
}

export interface NotesKeeper {
  /** Starts an update where one is due. One at a time. */
  readonly consider: (view: View, at: 'response' | 'turn-end', limits: NotesLimits) => void
  /** What has come since, to be appended now. */
  readonly take: (view: View) => readonly NamedBody[]
  /** Whether notes are to be the summary: then none is made beside them. */
  readonly areKept: () => boolean
  /** An update is under way. */
  readonly isWorking: () => boolean
  /** Waits for an update under way, at most so long. */
  readonly settle: (ms: number) => Promise<void>
}

/** A summary that was made before it was needed. */
export interface Prepared {
  readonly text: string
  /** The last entry it covers. */
  readonly upTo: EntryId
  /** The boundary in force when it was made. */
  readonly boundary: EntryId | undefined
}

export interface PreparedLimits {
  readonly facts: ModelFacts
  readonly thinking: ThinkingPolicy
  readonly thresholds: Thresholds
  readonly sizeTokens: number
  readonly wishes?: { readonly model?: string | undefined } | undefined
  /** No compaction is coming that it could serve. */
  readonly isSpared?: (() => boolean) | undefined
}

export interface PreparedKeeper {
  /** Starts one where it may be needed soon. One at a time, and one until the next compaction. */
  readonly consider: (view: View, limits: PreparedLimits) => void
  /** What was spent since, to be appended now. */
  readonly take: () => readonly NamedBody[]
  /** One that still fits. */
  readonly find: (view: View) => Prepared | undefined
}
