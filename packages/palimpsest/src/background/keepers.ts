import type { EntryBody } from '../situation/session.ts'
import type { Sizing } from '../situation/size-of.ts'
import type { Thresholds } from '../situation/thresholds.ts'
import type { ThinkingPolicy } from '../transcript/settle.ts'
import type { MailEntry, MessageEntry } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import type { Covering, Keeper } from './create-keeper.ts'

// What a turn asks of those who work in parallel to it. Each is a keeper with a task of a layer; the turn starts them, takes what they
// make, and waits for none.

/** Longest wait for notes that are being written, at a compaction and when a process ends. */
export const NOTES_WAIT_MS = 15_000

export interface NotesLimits extends Sizing {
  readonly sizeTokens: number
  readonly warningTokens: number
  /** Most that a request may hold: a request for notes must fit too. */
  readonly blockingTokens: number
  /** No compaction is coming that notes could serve: nothing compacts, the provider writes its own summary, or clearing will make room. */
  readonly isSpared?: (() => boolean) | undefined
}

export interface NotesKeeper extends Pick<Keeper<never, string>, 'take' | 'isWorking' | 'settle' | 'stop'> {
  /** Starts an update if one is due. One at a time. */
  readonly consider: (view: View, at: 'response' | 'turn-end', limits: NotesLimits) => void
  /** Whether notes are to be the summary: then no other is prepared. */
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

/** Starts a summary if one may be needed soon: one at a time, and one until the next compaction. `find` returns it while it fits. */
export type PreparedKeeper = Pick<Keeper<PreparedLimits, string>, 'consider' | 'take' | 'find' | 'stop'>

/** Leaves only its cost in the conversation. */
export type SpendingKeeper = Pick<Keeper<never, unknown>, 'take'>

/** Agents that work for the conversation. */
export interface AgentsKeeper extends SpendingKeeper {
  /** What they, or the host, have to say by now. It joins the conversation before the next request. `view`: what the model sees. */
  readonly mail: (view: View) => Mail
}

export interface Mail {
  readonly said: readonly EntryBody<MessageEntry>[]
  /** Messages from others that may wait. Absent: nobody writes to this conversation. */
  readonly letters?: LetterKeeper | undefined
}

/** Messages from others to one conversation. */
export interface LetterKeeper {
  /** `append` resolves when they are on disk; only then do they leave the mailbox. Fails only if `append` fails. */
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
