import type { Hash } from '../wire/hash.ts'
import type { JsonObject, JsonText } from '../wire/json.ts'
import type { WireMessage } from '../wire/message.ts'
import type { Usage } from '../wire/usage.ts'

// START HERE. A transcript is a list of entries that only grows. What the model sees is a fold over them (`view`). Nothing else
// holds conversational state, and nothing the model sees is made up on the way: stand-ins, summaries, attachments and
// "interrupted" results are stored rendered, as they will be sent.

export type EntryId = string

/** Where a text came from. Trust follows from it; only `user` text can set standing instructions. */
export const ORIGINS = [
  'user',
  'model',
  'tool',
  'web',
  'mcp',
  'memory',
  'recall',
  'hook',
  'peer',
  'engine',
] as const
export type Origin = (typeof ORIGINS)[number]

/** One content block of one message entry, by its place in that entry. */
export interface BlockRef {
  readonly entry: EntryId
  readonly index: number
}

/** A file beside the transcript. It is durable before an entry names it. */
export interface BlobRef {
  readonly path: string
  readonly bytes: number
}

interface EntryBase {
  readonly id: EntryId
  /** The entry this one follows. Chains, not file order, say what belongs together: forks and rewinds share a beginning. */
  readonly parent: EntryId | null
  /** Milliseconds since 1970; NaN where a foreign file has no readable time. */
  readonly at: number
  readonly sidechain?: boolean
}

/** All that stands before the messages in the provider's cache key, as rendered. */
export interface PrefixEntry extends EntryBase {
  readonly kind: 'prefix'
  readonly model: string
  readonly betas: readonly string[]
  /** The text of a block array. */
  readonly system: JsonText
  /** The text of a tool array. */
  readonly tools: JsonText
  /** Further members of the request that are part of the cache key (`thinking`, `output_config`, `tool_choice`, …), by name. */
  readonly parameters: { readonly [name: string]: JsonText }
  readonly reason: string
}

/** What a message shows of a file, or what a call made of it. */
export interface SeenFile {
  /** The real path. */
  readonly path: string
  /** Names the whole content, of which a part may be shown. */
  readonly hash: string
  /** `read`: the message shows it. `written`, `edited`: the call does, whole or in part. */
  readonly how: 'read' | 'written' | 'edited'
  /** Of an edit: the content before it. */
  readonly before?: string
}

export interface MessageEntry extends EntryBase {
  readonly kind: 'message'
  readonly origin: Origin
  readonly message: WireMessage
  /** The message's own text, byte for byte; for an answer, the provider's whole message object. */
  readonly json: JsonText
  /** What the engine made it for. A summary, an attachment and a copy that a boundary keeps are in view only through their boundary. */
  readonly part?: 'summary' | 'attachment' | 'kept' | 'interrupted'
  /** Of a kept copy: the message it repeats, byte for byte, and stands for in view. */
  readonly copyOf?: EntryId
  readonly responseId?: string
  readonly requestId?: string
  readonly model?: string
  /** As reported. An answer that was broken off has none: what it cost stands beside it, estimated. */
  readonly usage?: Usage
  /** Of an answer: it was broken off, and this is what had come. */
  readonly interrupted?: true
  /** Chain hash of what was sent when this answer was made. Its thinking may be sent only behind the same. */
  readonly under?: Hash
  /**
   * Of a signed compaction block: what an answer kept right behind it was made under, linked to the system and tools of then. The
   * signature vouches for the one by the other, so kept thinking stays valid while this fits.
   */
  readonly standsFor?: Hash
  /** Files that it shows, or that the calls it answers changed. */
  readonly files?: readonly SeenFile[]
  /** Estimated tokens of the messages that were sent for it, before calibration: what later counts start from. */
  readonly sentEstimate?: number
}

/** Layer 1: a result that stands on disk; the block is what the model sees of it from then on. */
export interface StoredEntry extends EntryBase {
  readonly kind: 'stored'
  readonly toolUseId: string
  readonly blob: BlobRef
  readonly standIn: JsonText
}

export type EditCause =
  | 'cold'
  | 'batch'
  | 'forced'
  | 'media'
  | 'server'
  | 'cache'
  | 'snip'
  | 'collapse'
  | 'restore'
  /** Says again what stands in the place of blocks that a compaction or a branch repeats. It takes nothing out, and the prefix is new anyway. */
  | 'again'

/** A declared change of earlier messages: the only thing, besides a boundary, that may break the prefix. */
export interface EditEntry extends EntryBase {
  readonly kind: 'edit'
  readonly cause: EditCause
  readonly replace: readonly { readonly at: BlockRef; readonly with: readonly JsonText[] }[]
  /** Message entries that leave the view whole. */
  readonly drop: readonly EntryId[]
  readonly freedTokens: number
}

export interface KeptSegment {
  /** First and last kept message entry; what lies between them on the chain is kept too. */
  readonly head: EntryId
  readonly tail: EntryId
  /** What stands before the first kept one: the last summary message for a kept tail, the boundary for a kept head. */
  readonly anchor: EntryId
}

/** A compaction. It takes effect when every message it names has been read. */
export interface BoundaryEntry extends EntryBase {
  readonly kind: 'boundary'
  readonly summary: readonly EntryId[]
  readonly kept?: KeptSegment
  /** `head`: the kept messages come first and the summary replaces what followed them. */
  readonly keeps: 'tail' | 'head'
  /** Other messages that stay, behind the summary and before a kept tail: copies, so that loading need not look for the originals. */
  readonly copies?: readonly EntryId[]
  readonly attachments: readonly EntryId[]
  readonly logicalParent: EntryId | null
  readonly meta: BoundaryMeta
}

/** What took something out of view, and can be undone. */
export type RemovalEntry = BoundaryEntry | EditEntry

export function isRemoval(entry: Entry): entry is RemovalEntry {
  return entry.kind === 'boundary' || (entry.kind === 'edit' && entry.cause !== 'again')
}

/** The messages that a boundary brings with it. */
export function partsOf({ summary, copies = [], attachments }: BoundaryEntry): readonly EntryId[] {
  return [...summary, ...copies, ...attachments]
}

/** In view only through the boundary that names it. */
export function isPart({ part }: MessageEntry): boolean {
  return part === 'summary' || part === 'attachment' || part === 'kept'
}

export interface BoundaryMeta {
  readonly trigger: 'auto' | 'manual'
  readonly preTokens: number
  readonly postTokens?: number
  readonly messagesSummarized?: number
  readonly path?: string
  readonly proof?: { readonly kept: number; readonly repaired: number; readonly invented: number }
  readonly discoveredTools?: readonly string[]
  /** Byte offset of the first kept message in the file: loading begins there. */
  readonly keptOffset?: number
  /** Byte offset of the prefix in force, which may lie long before. */
  readonly prefixOffset?: number
  readonly extra?: JsonObject
}

/** Undo: the target counts as if it were not there. Voiding a void brings its target back. */
export interface VoidEntry extends EntryBase {
  readonly kind: 'void'
  readonly target: EntryId
}

export interface PinEntry extends EntryBase {
  readonly kind: 'pin'
  readonly target: BlockRef
  readonly on: boolean
}

export interface NotesEntry extends EntryBase {
  readonly kind: 'notes'
  readonly upTo: EntryId
  readonly text: string
}

export interface MailEntry extends EntryBase {
  readonly kind: 'mail'
  readonly messageId: string
  readonly from: string
}

/** A model call that left no answer in the conversation: a summary, notes, an answer that was broken off. It is on the bill, and nothing else. */
export interface SpentEntry extends EntryBase {
  readonly kind: 'spent'
  /** Who asked. */
  readonly source: string
  readonly model: string
  readonly usage: Usage
  /** The provider never told it: the answer was broken off, or thrown away. */
  readonly estimated?: true
}

/** What the resume list shows. Written again after a boundary, so that it is found near the end of the file. */
export interface TitleEntry extends EntryBase {
  readonly kind: 'title'
  readonly title: string
  readonly firstPrompt: string
}

/** A line of a kind this version gives no meaning to. It keeps its place in the chain and its bytes. */
export interface OtherEntry extends EntryBase {
  readonly kind: 'other'
  readonly type: string
  readonly line: JsonText
}

export type Entry =
  | PrefixEntry
  | MessageEntry
  | StoredEntry
  | EditEntry
  | BoundaryEntry
  | VoidEntry
  | PinEntry
  | NotesEntry
  | MailEntry
  | SpentEntry
  | TitleEntry
  | OtherEntry
