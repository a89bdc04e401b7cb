import type { Flags } from './flags/create-flags.ts'
import type { ProviderFailure } from './errors.ts'
import type { MemoryChange, MemoryFiles, MemoryRecord, PendingMemory } from './memory-files.ts'
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

// Everything that the core asks of the world. Each function takes only the ports that it uses, by `Pick`.

export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Resolves after `ms`; rejects with the signal's reason if it is aborted first. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** The result of the work, or undefined if it takes longer than `ms`; the work then continues. Leaves no timer running. */
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
  /** The complete body of `POST /v1/messages`. */
  readonly body: JsonText
  readonly betas: readonly string[]
  readonly model: string
  readonly source: Source
  /** What the prompt will cost according to the ledger. Used if the provider reports no usage. */
  readonly expected?: Usage
}

/** One answer as the wire carries it. Fails with a `ProviderError`, never retries by itself, and ends early when the signal is aborted. */
export type StreamModel = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>

/** A stream event, or something that only the transport knows. */
export type ModelEvent = StreamEvent | { readonly type: 'request_id'; readonly requestId: string }

/** A request that extends the conversation's last one: the same bytes, with something after them. */
export interface Fork {
  readonly source: Source
  /**
   * Texts of messages that this parent's other forks also have, directly after the parent's own, without breakpoints. The last one ends in
   * a block that may carry a breakpoint.
   */
  readonly shared?: readonly JsonText[]
  /** Texts of the messages after those: what only this fork says. Without breakpoints. */
  readonly messages: readonly JsonText[]
  /** The fork is worth its price only if the cache holds what the parent wrote; otherwise the outcome is `unfit`. */
  readonly needsCache?: boolean | undefined
  /**
   * Indexes into `messages`: the cache keeps the prompt up to the end of each, because this fork's next request reads up to there. Two at
   * most.
   */
  readonly kept?: readonly number[]
  /** Instead of messages: the provider summarizes the parent's own messages, in a signed block. */
  readonly compaction?: CompactionWish
}

export interface CompactionWish {
  /** Replace the provider's own prompt. */
  readonly instructions?: string
  /** The chain hash that the parent's next answer is made from; if it is another by now, the outcome is `unfit`. */
  readonly under: Hash
}

export type ForkOutcome =
  | {
      readonly kind: 'answered'
      readonly response: MessagesResponse
      /** The complete message, as it came. */
      readonly json: JsonText
      readonly text: string
    }
  /** The model called tools. A single response runs none of them: the caller decides what becomes of the calls. */
  | {
      readonly kind: 'called-tools'
      readonly response: MessagesResponse
      readonly json: JsonText
      readonly calls: readonly ToolUseBlock[]
      /** Calls whose input was not valid JSON. */
      readonly unreadable: ReadonlySet<string>
    }
  | { readonly kind: 'failed'; readonly failure: ProviderFailure; readonly message: string }
  /**
   * Nothing was sent: the conversation has no answered request yet, nothing can follow its last message (a system message, or an unfinished
   * answer), the cache that the fork needs is gone, or a dollar limit forbids it.
   */
  | { readonly kind: 'unfit' }

/**
 * Asks once, without retries. Of several forks started together, one goes first and the others wait until they can read what it wrote.
 * Rejects only when aborted.
 */
export type RunFork = (fork: Fork, signal: AbortSignal) => Promise<ForkOutcome>

export type AskOutcome = Exclude<ForkOutcome, { kind: 'unfit' }>

/** One request that does not use the conversation's cache. Asks once. Rejects only when aborted. */
export type AskModel = (request: ModelRequest, signal: AbortSignal) => Promise<AskOutcome>

/** Text that a compaction puts after what it keeps. */
export interface Restored {
  readonly text: string
  readonly origin: Origin
  /** Files that the text shows. */
  readonly files?: readonly SeenFile[]
}

export interface RestoreWish {
  /** Most recently read first. */
  readonly files: readonly string[]
  /** Files that the kept messages show completely. */
  readonly visible: ReadonlySet<string>
  readonly filesMax: number
  readonly charsPerFile: number
  /** For all files together. */
  readonly charsMax: number
  /** What the new conversation says without the host, so that the host need not repeat it. */
  readonly said: string
}

/** What the host does around a compaction: it runs hooks, and reads what only it can read. */
export interface CompactionHost {
  readonly before: (
    input: { readonly trigger: 'auto' | 'manual'; readonly instructions: string },
    signal: AbortSignal,
  ) => Promise<{
    /** Why the compaction must not happen. */
    readonly block?: string | undefined
    readonly instructions?: string | undefined
    readonly notices?: readonly string[]
  }>
  /** What `restore` will add whatever the wish is, as far as the host knows in advance. Absent: nothing. */
  readonly again?: (signal: AbortSignal) => Promise<string>
  readonly restore: (wish: RestoreWish, signal: AbortSignal) => Promise<readonly Restored[]>
  /** Called after the compaction took effect. */
  readonly after: (
    input: { readonly trigger: 'auto' | 'manual'; readonly summary: string },
    signal: AbortSignal,
  ) => Promise<void>
}

export interface Transcript {
  /** Resolves when the entries are on disk. Nothing acts on them before that. */
  readonly append: (entries: readonly Entry[]) => Promise<void>
}

/** What left the view, and the transcript as stored. */
export interface History {
  /**
   * Entries, in the order in which they were written. If the store has lines, `isWanted` receives each line's bytes as characters and
   * decides whether to parse it.
   */
  readonly entries: (isWanted: (line: string) => boolean) => AsyncIterable<Entry>
  /** The complete stored result. Undefined if it is gone. */
  readonly blob: (blob: BlobRef) => Promise<string | undefined>
  /** The newest chain, as if these entries were at its end. Answers what an undo would show. */
  readonly load: (assumed: readonly Entry[]) => Promise<{
    readonly entries: readonly Entry[]
    readonly from: EntryId | null
  }>
}

/** Stores tool results beside the transcript. */
export interface Blobs {
  /** Resolves when the text is on disk. Fails with a `StorageError`. */
  readonly save: (toolUseId: string, text: string) => Promise<BlobRef>
  /** The path that the model is told. */
  readonly locate: (blob: BlobRef) => string
}

/** A decision, with its numbers and its reason. Contains content only if the user asked for it. */
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
  /** Read at each decision, never kept: flags change while a session runs. */
  readonly flags: Flags
  readonly trace: (event: TraceEvent) => void
}

/** Where an agent's conversations are stored. */
export interface AgentStore {
  /** The conversation stored under this id, or a new one. `costOf` prices an answer, for the totals. */
  readonly open: (id: string | undefined, costOf: CostOf) => Promise<KeptConversation>
  /** Copies a conversation as it is now. Returns the id of the copy. */
  readonly fork: (id: string) => Promise<string>
}

/** US dollars for one answer. Each line of a response repeats its usage; asked line by line, the results add up to the price. */
export type CostOf = (entry: MessageEntry | SpentEntry) => number

/** One conversation, open for a single writer. */
export interface KeptConversation extends Transcript {
  readonly id: string
  /** The current chain, oldest first. */
  readonly entries: readonly Entry[]
  /** The boundary where the entries begin; null: at the start of the conversation. */
  readonly from: EntryId | null
  readonly blobs: Blobs
  readonly history: History
  /** Totals over the whole conversation. */
  readonly totals: () => Totals
  readonly close: () => Promise<void>
}

/** One folder of memories. Fails with a `StorageError`. */
export interface MemoryFolder {
  readonly path: string
  readonly read: () => Promise<MemoryFiles>
  /** `decide` sees the files while nobody else can change them. Resolves when the whole change is on disk and in the history. */
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
  /** Notes which memories a conversation was shown, by name: in its index or in full. */
  readonly noteUses: (names: readonly string[]) => Promise<void>
  /** How often each memory was shown. */
  readonly uses: () => Promise<ReadonlyMap<string, number>>
  /** Adds a line to that day's log. It is not part of the history. */
  readonly log: (at: number, line: string) => Promise<void>
}

/** The process that holds something only one process may have. */
export interface Holder {
  /** Identifies this take; the same process gets another token the next time. */
  readonly token: string
  readonly pid: number
  readonly host: string
  /** When the process started, and during which boot: process ids are reused. Absent if the system does not report them. */
  readonly startTicks?: string | undefined
  readonly boot?: string | undefined
  /** When it was taken, in milliseconds since 1970. */
  readonly at: number
  /**
   * The recorded time that this take replaced, in milliseconds since 1970; it is restored if the work comes to nothing. Null: there was
   * none.
   */
  readonly replaced: number | null
}

/** Hands out what only one process may have. However many processes try at the same time, exactly one gets it. */
export interface Arbiter {
  readonly find: (name: string) => Promise<Holder | undefined>
  /** Takes it in one step. `over`: the token of a holder that is gone. False: another process has it. */
  readonly take: (name: string, holder: Holder, over?: string) => Promise<boolean>
  /** Does nothing if another process holds it by now. */
  readonly release: (name: string, token: string) => Promise<void>
}

/** Messages that wait for one agent. When `send` resolves, the message stays until it is settled, even if any process dies. */
export interface Mailbox<Letter> {
  /** The letter names the receiver. Sending it again does no harm: the receiver recognizes its id. */
  readonly send: (letter: Letter) => Promise<void>
  /** Oldest first; letters of one sender in the order in which they were sent. */
  readonly waiting: (atMost: number) => Promise<{
    readonly letters: readonly Letter[]
    /** How many more are waiting. */
    readonly more: number
    /** Letters put aside, each with the reason. Each is reported once. */
    readonly refused: readonly { readonly name: string; readonly why: string }[]
  }>
  /** Whether there is a letter to read. Letters that it puts aside are reported by the next `waiting`. */
  readonly hasLetters: () => Promise<boolean>
  /** Called once the receiver's transcript has the letter. Does nothing if the letter no longer waits. */
  readonly settle: (id: string) => Promise<void>
}

/**
 * A team's work, as a log of events that only grows. A writer sees everything that was added before, and no one else can add in between.
 */
export interface TaskLog<Event> {
  /** Oldest first. `damaged`: what could not be read, for the user; none of it is removed. */
  readonly read: () => Promise<{ readonly events: readonly Event[]; readonly damaged: readonly string[] }>
  /** Adds the events that `decide` returns, and returns all events. Once it resolves, they stay, even if any process dies. */
  readonly change: (
    decide: (events: readonly Event[]) => readonly Event[],
  ) => Promise<{ readonly events: readonly Event[]; readonly damaged: readonly string[] }>
}

/** What everyone can see of consolidations: when the last one was, and who runs one now. It only informs; the arbiter decides. */
export interface ConsolidationRecord {
  /** Reads the file once. `lastMs`: null if there was no consolidation yet. */
  readonly look: () => Promise<{ readonly lastMs: number | null; readonly isHeld: boolean }>
  readonly holder: () => Promise<Holder | undefined>
  readonly begin: (holder: Holder) => Promise<void>
  /** Records that none is running any more, and when the last one was. */
  readonly end: (lastMs: number | null) => Promise<void>
}
