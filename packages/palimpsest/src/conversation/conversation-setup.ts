import type { SpendingLimit } from '../errors.ts'
import type { BesideSums } from '../background/background-bill.ts'
import type { MeteredModel } from '../accounts/meter-model.ts'
import type { AgentsKeeper } from '../background/keepers.ts'
import type { ClearingWishes } from '../layers/2-micro-compaction/policy.ts'
import type { NotesPolicy } from '../layers/3-session-memory/notes-for.ts'
import type { ExtractionHost } from '../layers/5-memory/extraction/extraction-keeper.ts'
import type { LimitKeeper } from '../loop/limit-keeper.ts'
import type { TurnCompaction } from '../loop/run-turn.ts'
import type { LoopTool, Permit } from '../loop/tool.ts'
import type { History, Ports, Source } from '../ports.ts'
import type { CacheWishes } from '../request/cache-lifetimes.ts'
import type { EntryBody, Session } from '../situation/session.ts'
import type { WindowReading } from '../situation/situation.ts'
import type { MessageEntry, PrefixEntry } from '../transcript/entry.ts'
import type { Totals } from '../transcript/totals.ts'

// Everything that a conversation is opened with, as one value. Its maker has read flags, settings and files; no code after that reads them.

export interface ConversationSetup {
  /** As stored; for a new session, empty. */
  readonly session: Session
  readonly ports: Ports
  readonly history: History
  /** Totals over the whole session, whichever part of it is loaded. */
  readonly totals: () => Totals
  /** The prefix from now on; appended if it differs from the session's. */
  readonly prefix: EntryBody<PrefixEntry>
  readonly opening: ConversationStart
  readonly tools: readonly LoopTool[]
  readonly permit: Permit
  /** Called before every turn: a refusal may teach a smaller window, and the provider may report another one. */
  readonly reading: () => WindowReading
  /** For any model at the same endpoint, since another model may have led a stored session. */
  readonly readingOf?: ((model: string) => WindowReading) | undefined
  /** Longest answer, in tokens. */
  readonly maxTokens: () => number
  /** Absent: nothing compacts. */
  readonly compaction?: ConversationCompaction | undefined
  /** Absent: no notes are kept. */
  readonly notes?: ConversationNotes | undefined
  /** Absent: no memories are saved beside the turns. */
  readonly extraction?: ExtractionHost | undefined
  /** Absent: no agents work for the conversation. */
  readonly agents?: AgentsKeeper | undefined
  readonly limits?: LimitKeeper | undefined
  /** What the user can do about a full window, in one sentence. Called before every turn. */
  readonly howToCompact?: (() => string) | undefined
  /** The user's settings for the cache. Without them, its lifetime depends on the pauses of the conversation. */
  readonly cache?: CacheWishes | undefined
  /** The user's settings for clearing after a pause. */
  readonly clearing?: ClearingWishes | undefined
  readonly roundsMax: number
  /** Who asks. Absent: the main conversation. */
  readonly source?: Source | undefined
  readonly spending?: Spending | undefined
  /** The process ends with the turn: work started at its end would be lost, so what was due at the end of the previous turn is done now. */
  readonly endsWithTurn: boolean
  /** Ends all work beside the turns. */
  readonly signal: AbortSignal
}

/** What only the window determines is added turn by turn. */
export type ConversationCompaction = Omit<TurnCompaction, 'scale' | 'effectiveTokens' | 'windowTokens'>

export interface ConversationStart {
  /** What a new conversation begins with: instruction files, environment. */
  readonly first: readonly EntryBody<MessageEntry>[]
  /** What comes before the first message of every run. */
  readonly always: readonly EntryBody<MessageEntry>[]
}

export interface Spending {
  /** What was spent on answers that were not used completely. Its `streamModel` is the one of the ports. */
  readonly metered: Pick<MeteredModel, 'take' | 'notices'>
  /** US dollars that the whole session may cost. Absent: no limit. */
  readonly maxUsd?: number | undefined
  /** US dollars that may still be spent, by the tightest limit. */
  readonly leftUsd?: (() => number) | undefined
  /** Which limit is exhausted, if it is not the session's. */
  readonly limit?: (() => SpendingLimit | undefined) | undefined
  /** What the project's other sessions cost recently: calls beside the conversation may use a share of the project's bill. */
  readonly elsewhere?: (() => BesideSums | undefined) | undefined
}

export interface ConversationNotes {
  readonly policy: NotesPolicy
  readonly writer: NotesWriter
  /** Notes written before this run; undefined if there are none, or only computed ones. */
  readonly written: string | undefined
  /** False: notes are only computed, because another model writes the summaries, or nothing is ever compacted. */
  readonly asksModel: boolean
}

/** Where people read the notes. Nothing here fails. */
export interface NotesWriter {
  readonly write: (text: string) => Promise<void>
  /** No one waits for it, so it is computed when there is time; of several that come during a write, only the newest is written. */
  readonly writeComputed: (compute: () => string) => void
  readonly settled: () => Promise<void>
}
