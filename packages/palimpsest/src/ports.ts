import type { Flags } from './flags/create-flags.ts'
import type { ProviderFailure } from './errors.ts'
import type {
  BlobRef,
  Entry,
  EntryId,
  MessageEntry,
  Origin,
  SeenFile,
  SpentEntry,
} from './transcript/entry.ts'
import type { Totals } from './transcript/totals.ts'
import type { Hash } from './wire/hash.ts'
import type { JsonText } from './wire/json.ts'
import type { ToolUseBlock } from './wire/message.ts'
import type { MessagesResponse } from './wire/response.ts'
import type { StreamEvent } from './wire/stream-event.ts'
import type { Usage } from './wire/usage.ts'

// Everything the core asks of the world. Each function takes the ports it uses, by `Pick`, and no more.

export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** What the work comes to, or undefined where it takes longer than `ms`; it goes on then. No timer stays behind. */
  readonly within: <T>(work: Promise<T>, ms: number) => Promise<T | undefined>
}

/** Who is asking: the main conversation (`main`, `main:<style>`) or a fork of our own. */
export type Source =
  | 'main'
  | `main:${string}`
  | 'compact'
  | 'session-memory'
  | 'extract-memories'
  | 'dream'
  | 'agent-summary'
  | 'collapse'
  | `subagent:${string}`

export interface ModelRequest {
  /** The body of `POST /v1/messages`, whole. */
  readonly body: JsonText
  readonly betas: readonly string[]
  readonly model: string
  readonly source: Source
  /** What its prompt will cost by the ledger: what counts where the provider never tells. */
  readonly expected?: Usage
}

/** One answer as the wire has it. Fails with a `ProviderError`; never retries by itself; ends early when the signal is aborted. */
export type StreamModel = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>

/** A stream event, or what only the transport knows. */
export type ModelEvent = StreamEvent | { readonly type: 'request_id'; readonly requestId: string }

/** One more request on the back of the conversation's last one: the same bytes, with something after them. */
export interface Fork {
  readonly source: Source
  /** Texts of messages that other forks of this parent have too, right behind its own and without breakpoints. The last one ends in a block that may carry one. */
  readonly shared?: readonly JsonText[]
  /** Texts of the messages that follow: what this fork alone says. Without breakpoints. */
  readonly messages: readonly JsonText[]
  /** Not worth its price unless the cache holds what the parent wrote: `unfit` then. */
  readonly needsCache?: boolean | undefined
  /** Of `messages`, by place: those whose end is kept in the cache, because the next request of this fork reads up to there. Two at most. */
  readonly kept?: readonly number[]
  /** Instead of messages: the provider is to summarise the parent's own, in a signed block. */
  readonly compaction?: CompactionWish
}

export interface CompactionWish {
  /** Instead of the provider's own prompt. */
  readonly instructions?: string
  /** What the parent's answers are made under: `unfit` where that is another conversation by now. */
  readonly under: Hash
}

export type ForkOutcome =
  | {
      readonly kind: 'answered'
      readonly response: MessagesResponse
      /** The message whole, as it came. */
      readonly json: JsonText
      readonly text: string
    }
  /** The model called tools. One response runs none: who asked says what becomes of the calls. */
  | {
      readonly kind: 'called-tools'
      readonly response: MessagesResponse
      readonly json: JsonText
      readonly calls: readonly ToolUseBlock[]
      /** Calls whose input was not valid JSON. */
      readonly unreadable: ReadonlySet<string>
    }
  | { readonly kind: 'failed'; readonly failure: ProviderFailure; readonly message: string }
  /** Nothing was sent yet in this conversation, or nothing can follow its last message: that is a system message, or an answer that goes on. */
  | { readonly kind: 'unfit' }

/** Asks once, without retries. Of several called at once the first goes ahead until the others can read what it wrote. Rejects only when aborted. */
export type RunFork = (fork: Fork, signal: AbortSignal) => Promise<ForkOutcome>

export type AskOutcome = Exclude<ForkOutcome, { kind: 'unfit' }>

/** One request that has nothing to do with the conversation's cache. Asks once. Rejects only when aborted. */
export type AskModel = (request: ModelRequest, signal: AbortSignal) => Promise<AskOutcome>

/** Something a compaction puts after what it keeps. */
export interface Restored {
  readonly text: string
  readonly origin: Origin
  /** Files that the text shows. */
  readonly files?: readonly SeenFile[]
}

export interface RestoreWish {
  /** Most recently read first. */
  readonly files: readonly string[]
  /** Files that the kept messages show whole. */
  readonly visible: ReadonlySet<string>
  readonly filesMax: number
  readonly charsPerFile: number
  /** Of all files together. */
  readonly charsMax: number
  /** What the new conversation says without the host: it need not be said again. */
  readonly said: string
}

/** What the host does around a compaction: hooks, and what only it can read. */
export interface CompactionHost {
  readonly before: (
    input: { readonly trigger: 'auto' | 'manual'; readonly instructions: string },
    signal: AbortSignal,
  ) => Promise<{
    /** Why it must not happen. */
    readonly block?: string | undefined
    readonly instructions?: string | undefined
    readonly notices?: readonly string[]
  }>
  /** What `restore` will put back whatever it is asked for, as far as that is known. Left out: nothing. */
  readonly again?: (signal: AbortSignal) => Promise<string>
  readonly restore: (wish: RestoreWish, signal: AbortSignal) => Promise<readonly Restored[]>
  /** After it took effect. */
  readonly after: (
    input: { readonly trigger: 'auto' | 'manual'; readonly summary: string },
    signal: AbortSignal,
  ) => Promise<void>
}

export interface Transcript {
  /** Resolves when the entries are on disk. Nothing is acted on before. */
  readonly append: (entries: readonly Entry[]) => Promise<void>
}

/** What left the view, and the transcript as it lies there. */
export interface History {
  /** Entries, in the order they were written. `isWanted` is asked of a line's bytes as characters, where there are lines. */
  readonly entries: (isWanted: (line: string) => boolean) => AsyncIterable<Entry>
  /** A stored result, whole. Undefined where it is gone. */
  readonly blob: (blob: BlobRef) => Promise<string | undefined>
  /** The newest chain, as if these entries stood at its end: what would an undo show? */
  readonly load: (assumed: readonly Entry[]) => Promise<{
    readonly entries: readonly Entry[]
    readonly from: EntryId | null
  }>
}

/** Tool results beside the transcript. */
export interface Blobs {
  /** Resolves when the text is on disk. Fails with a `StorageError`. */
  readonly save: (toolUseId: string, text: string) => Promise<BlobRef>
  /** The path to tell the model. */
  readonly locate: (blob: BlobRef) => string
}

/** A decision, with its numbers and its reason. Content only where it was asked for. */
export interface TraceEvent {
  readonly name: string
  readonly reason?: string | undefined
  readonly [detail: string]: string | number | boolean | undefined
}

export interface Ports {
  readonly clock: Clock
  readonly newId: () => string
  /** In [0, 1): spreads retries. Never shapes bytes. */
  readonly random: () => number
  readonly streamModel: StreamModel
  readonly transcript: Transcript
  readonly blobs: Blobs
  /** Read when a decision is made, never kept: they change while a session runs. */
  readonly flags: Flags
  readonly trace: (event: TraceEvent) => void
}

/** Where an agent's conversations are kept. */
export interface AgentStore {
  /** The conversation that is stored under this id, or a new one. `costOf`: what an answer cost, for the sums. */
  readonly open: (id: string | undefined, costOf: CostOf) => Promise<KeptConversation>
  /** Copies a conversation as it is now. The copy's id. */
  readonly fork: (id: string) => Promise<string>
}

/** US dollars for one answer. Lines of one response each repeat its usage: asked one by one, they come to its price. */
export type CostOf = (entry: MessageEntry | SpentEntry) => number

/** One conversation, opened for one writer. */
export interface KeptConversation extends Transcript {
  readonly id: string
  /** The chain in force, oldest first. */
  readonly entries: readonly Entry[]
  /** The boundary it begins from; null: from the beginning. */
  readonly from: EntryId | null
  readonly blobs: Blobs
  readonly history: History
  /** Sums over all of it. */
  readonly totals: () => Totals
  readonly close: () => Promise<void>
}

/** Who changed a memory. */
export type MemoryAuthor = 'extract' | 'dream' | 'user' | 'agent'

/** The files of one folder of memories. */
export interface MemoryFiles {
  readonly index: string
  /** By name, without `.md`. */
  readonly texts: ReadonlyMap<string, string>
  /** Files that are there and cannot be used, and why not. */
  readonly unusable: ReadonlyMap<string, string>
}

export interface MemoryChange {
  readonly by: MemoryAuthor
  readonly session?: string | undefined
  readonly reason: string
  /** The entry that this one undoes. */
  readonly undoes?: string | undefined
  /** It only notes that something was verified: no entry of the history that people see. */
  readonly isMark?: boolean | undefined
  /** By name; null: the file goes. */
  readonly texts: ReadonlyMap<string, string | null>
  readonly index: string
}

/** One file before and after, as a replaced piece of it. */
export interface FilePatch {
  /** A memory's name, or `MEMORY` for the index. */
  readonly file: string
  /** Null where there was no file. */
  readonly before: { readonly hash: Hash; readonly bytes: number } | null
  readonly after: { readonly hash: Hash; readonly bytes: number } | null
  readonly at: number
  readonly removed: string
  readonly added: string
}

/** An entry of a memory folder's history. */
export interface MemoryRecord extends Omit<MemoryChange, 'texts' | 'index'> {
  readonly id: string
  readonly at: number
  readonly changed: readonly FilePatch[]
}

/** What was proposed for memory and needs the user's word. */
export interface PendingMemory {
  readonly id: string
  readonly at: number
  readonly name: string
  readonly description: string
  readonly type: string
  readonly body: string
  readonly why: string
  readonly by: MemoryAuthor
  readonly source: readonly { readonly session: string; readonly message: string }[]
}

/** One folder of memories. Fails with a `StorageError`. */
export interface MemoryFolder {
  readonly path: string
  readonly read: () => Promise<MemoryFiles>
  /** `decide` sees the files while nobody else changes them. Resolves when all it wants is on disk, and in the history. */
  readonly change: (
    decide: (
      files: MemoryFiles,
      /** Newest first. */
      history: () => Promise<readonly MemoryRecord[]>,
    ) => Promise<MemoryChange | undefined> | MemoryChange | undefined,
  ) => Promise<MemoryRecord | undefined>
  /** Newest first. */
  readonly history: () => Promise<readonly MemoryRecord[]>
  /** Oldest first. */
  readonly pending: () => Promise<readonly PendingMemory[]>
  readonly queue: (pending: PendingMemory) => Promise<void>
  readonly unqueue: (id: string) => Promise<void>
  /** Names of memories that a conversation was shown, in its index or whole. */
  readonly noteUses: (names: readonly string[]) => Promise<void>
  /** How often each was shown. */
  readonly uses: () => Promise<ReadonlyMap<string, number>>
  /** A line for the log of that day. It is no entry of the history. */
  readonly log: (at: number, line: string) => Promise<void>
}

/** Who has what only one may have, among all processes. */
export interface Holder {
  /** Of this taking; the next one of the same process has another. */
  readonly token: string
  readonly pid: number
  readonly host: string
  /** When the process started, and on which boot: ids of processes are used again. Left out where the system does not tell. */
  readonly startTicks?: string | undefined
  readonly boot?: string | undefined
  /** When it was taken, in milliseconds since 1970. */
  readonly at: number
  /** The time that the taking replaced: it is set back should nothing come of it. Null: there was none. */
  readonly replaced: number | null
}

/** Gives what only one may have. Of any number that take at once exactly one gets it. */
export interface Arbiter {
  readonly find: (name: string) => Promise<Holder | undefined>
  /** In one step. `over`: the token of a holder that is gone. False: somebody else has it. */
  readonly take: (name: string, holder: Holder, over?: string) => Promise<boolean>
  /** Nothing happens where another has it by now. */
  readonly release: (name: string, token: string) => Promise<void>
}

/** Messages that wait for one agent. Whoever sends knows, when it resolves, that they stay until they are settled, whatever dies. */
export interface Mailbox<Letter> {
  /** To whom the letter names. To send one again does no harm: whoever gets it goes by its id. */
  readonly send: (letter: Letter) => Promise<void>
  /** The oldest first; of one sender in the order in which they were sent. */
  readonly waiting: (atMost: number) => Promise<{
    readonly letters: readonly Letter[]
    /** Wait, too. */
    readonly more: number
    /** Put aside, each with the reason, and told once. */
    readonly refused: readonly { readonly name: string; readonly why: string }[]
  }>
  /** Whether something can be read. What is put aside meanwhile is told by the next `waiting`. */
  readonly hasLetters: () => Promise<boolean>
  /** Once the receiver's transcript has it. Nothing happens where it waits no more. */
  readonly settle: (id: string) => Promise<void>
}

/** What a team has to do, as events that are only added. Whoever changes it sees all that was added before, and nobody adds between. */
export interface TaskLog<Event> {
  /** Oldest first. `damaged`: what could not be read, for the user; nothing of it is removed. */
  readonly read: () => Promise<{ readonly events: readonly Event[]; readonly damaged: readonly string[] }>
  /** Adds what `decide` makes of the events; all events then. It stays, when it resolves, whatever dies. */
  readonly change: (
    decide: (events: readonly Event[]) => readonly Event[],
  ) => Promise<{ readonly events: readonly Event[]; readonly damaged: readonly string[] }>
}

/** What everybody can see of consolidations: when the last one was, and who is at it. It decides nothing. */
export interface ConsolidationRecord {
  /** One look at the file. `lastMs`: null where there was none. */
  readonly look: () => Promise<{ readonly lastMs: number | null; readonly isHeld: boolean }>
  readonly holder: () => Promise<Holder | undefined>
  readonly begin: (holder: Holder) => Promise<void>
  /** Nobody is at it any more, and the last one was then. */
  readonly end: (lastMs: number | null) => Promise<void>
}
