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

// All that a conversation is opened with, as one value. Whoever makes it has read flags, settings and files; nobody behind it does.

export interface ConversationSetup {
  /** As it was stored; of a new one, with nothing in it. */
  readonly session: Session
  readonly ports: Ports
  readonly history: History
  /** Sums over the whole session, whatever part of it is loaded. */
  readonly totals: () => Totals
  /** As it is to be from now on; appended where it differs from what the session has. */
  readonly prefix: EntryBody<PrefixEntry>
  readonly opening: ConversationStart
  readonly tools: readonly LoopTool[]
  readonly permit: Permit
  /** Asked before every turn: a refusal may teach a smaller window, and the provider may tell of another. */
  readonly reading: () => WindowReading
  /** Of any model at the same endpoint: for sessions that another one led. */
  readonly readingOf?: ((model: string) => WindowReading) | undefined
  /** Of one answer. */
  readonly maxTokens: () => number
  /** Left out: nothing compacts. */
  readonly compaction?: ConversationCompaction | undefined
  /** Left out: no notes are kept. */
  readonly notes?: ConversationNotes | undefined
  /** Left out: no memories are saved beside the turns. */
  readonly extraction?: ExtractionHost | undefined
  /** Left out: no agents work for it. */
  readonly agents?: AgentsKeeper | undefined
  readonly limits?: LimitKeeper | undefined
  /** What the user does about a full window: a sentence, asked for before every turn. */
  readonly howToCompact?: (() => string) | undefined
  /** What the user says about the cache. Its lifetime is as the pauses of the conversation have it where nobody says. */
  readonly cache?: CacheWishes | undefined
  /** What the user says about clearing after a pause. */
  readonly clearing?: ClearingWishes | undefined
  readonly roundsMax: number
  /** Who asks. Left out: the main conversation. */
  readonly source?: Source | undefined
  readonly spending?: Spending | undefined
  /** The process ends with the turn: what begins at its end would be in vain, and what was due at the last one's is made up for. */
  readonly endsWithTurn: boolean
  /** Ends all that goes on beside the turns. */
  readonly signal: AbortSignal
}

/** What is known only of the window is added turn by turn. */
export type ConversationCompaction = Omit<TurnCompaction, 'scale' | 'effectiveTokens' | 'windowTokens'>

export interface ConversationStart {
  /** What a new conversation begins with: instruction files, environment. */
  readonly first: readonly EntryBody<MessageEntry>[]
  /** What comes before the first message of every run. */
  readonly always: readonly EntryBody<MessageEntry>[]
}

export interface Spending {
  /** What was spent on answers that nobody took whole. Its `streamModel` is the port's. */
  readonly metered: Pick<MeteredModel, 'take' | 'notices'>
  /** US dollars that the whole session may cost. */
  readonly maxUsd?: number | undefined
  /** What may still be spent, by the narrowest limit. */
  readonly leftUsd?: (() => number) | undefined
  /** Which limit leaves no more, where it is not the session's. */
  readonly limit?: (() => SpendingLimit | undefined) | undefined
  /** What the other sessions of the project came to of late: calls beside the conversation have a share of the project's bill. */
  readonly elsewhere?: (() => BesideSums | undefined) | undefined
}

export interface ConversationNotes {
  readonly policy: NotesPolicy
  readonly writer: NotesWriter
  /** What somebody wrote before this run; undefined where there is nothing, or only what was computed. */
  readonly written: string | undefined
  /** Else they are computed only: another model writes the summaries, or nothing is ever compacted. */
  readonly asksModel: boolean
}

/** Where people read the notes. Nothing here fails. */
export interface NotesWriter {
  readonly write: (text: string) => Promise<void>
  /** Nobody waits for it, so it is computed when there is time; of many that come while one is written, the newest is. */
  readonly writeComputed: (compute: () => string) => void
  readonly settled: () => Promise<void>
}
