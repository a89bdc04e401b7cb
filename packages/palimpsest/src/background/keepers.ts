import type { EntryBody } from '../situation/session.ts'
import type { Sizing } from '../situation/size-of.ts'
import type { Thresholds } from '../situation/thresholds.ts'
import type { ThinkingPolicy } from '../transcript/settle.ts'
import type { MailEntry, MessageEntry } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import type { Covering, Keeper } from './create-keeper.ts'

// What a turn asks of those who work beside it. They are one keeper with a task of a layer's; the turn starts them, takes what they bring, and
// waits for none.

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

export interface NotesKeeper extends Pick<Keeper<never, string>, 'take' | 'isWorking' | 'settle'> {
  /** Starts an update where one is due. One at a time. */
  readonly consider: (view: View, at: 'response' | 'turn-end', limits: NotesLimits) => void
  /** Whether notes are to be the summary: then none is made beside them. */
  readonly areKept: () => boolean
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

/** Starts a summary where one may be needed soon: one at a time, and one until the next compaction. `find` has it while it fits. */
export type PreparedKeeper = Pick<Keeper<PreparedLimits, string>, 'consider' | 'take' | 'find'>

/** Leaves in the conversation what it cost, and no more. */
export type SpendingKeeper = Pick<Keeper<never, unknown>, 'take'>

/** Agents that work for the conversation. */
export interface AgentsKeeper extends SpendingKeeper {
  /** What they, or the host, have to say by now: joins the conversation before the next request. `view`: what the model sees. */
  readonly mail: (view: View) => Mail
}

export interface Mail {
  readonly said: readonly EntryBody<MessageEntry>[]
  /** Messages of others that may wait. Left out: nobody writes to this conversation. */
  readonly letters?: LetterKeeper | undefined
}

/** Messages of others to one conversation. */
export interface LetterKeeper {
  /** `append` resolves when they are on the disk; only then they leave the mailbox. Fails only where it does. */
  readonly take: (
    view: View,
    append: (bodies: readonly EntryBody<MailEntry | MessageEntry>[]) => Promise<void>,
  ) => Promise<TakenLetters>
}

export interface TakenLetters {
  readonly letters: readonly { readonly from: string; readonly summary: string }[]
  /** For the user: what was refused, what waits, what went wrong. */
  readonly notices: readonly string[]
}

/** A summary that was made before it was needed. */
export type Prepared = Covering<string>
