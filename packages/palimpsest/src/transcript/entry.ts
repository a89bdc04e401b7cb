import type { Hash } from '../wire/hash.ts'
import type { JsonObject, JsonText } from '../wire/json.ts'
import type { WireMessage } from '../wire/message.ts'
import type { Usage } from '../wire/usage.ts'

// START HERE. A transcript is a list of entries that only grows. What the model sees is a fold over them (`view`). Nothing else holds
// conversational state, and nothing that the model sees is made up on the way: stand-ins, summaries, attachments and "interrupted" results
// are stored as rendered, in the form in which they are sent.

export type EntryId = string

/** Where a text came from. Trust depends on it: only `user` text can set standing instructions. */
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

/** One content block of a message entry, by its index in that entry. */
export interface BlockRef {
  readonly entry: EntryId
  readonly index: number
}

/** A file beside the transcript. It is durable before any entry names it. */
export interface BlobRef {
  readonly path: string
  readonly bytes: number
}

interface EntryBase {
  readonly id: EntryId
  /** The entry that this one follows. Chains, not file order, decide what belongs together: forks and rewinds share a beginning. */
  readonly parent: EntryId | null
  /** Milliseconds since 1970; NaN if a foreign file has no readable time. */
  readonly at: number
  readonly sidechain?: boolean
}

/** Everything that comes before the messages in the provider's cache key, as rendered. */
export interface PrefixEntry extends EntryBase {
  readonly kind: 'prefix'
  readonly model: string
  readonly betas: readonly string[]
  /** A block array, as JSON text. */
  readonly system: JsonText
  /** A tool array, as JSON text. */
  readonly tools: JsonText
  /** Other members of the request that are part of the cache key (`thinking`, `output_config`, `tool_choice`, …), by name. */
  readonly parameters: { readonly [name: string]: JsonText }
  readonly reason: string
}

/** What a message shows of a file, or how a call changed it. */
export interface SeenFile {
  /** The real path. */
  readonly path: string
  /** Identifies the complete content, of which only a part may be shown. */
  readonly hash: string
  /** `read`: the message shows it. `written`, `edited`: the call contains the new content, completely or in part. */
  readonly how: 'read' | 'written' | 'edited'
  /** For an edit: the hash of the content before it. */
  readonly before?: string
}

export interface MessageEntry extends EntryBase {
  readonly kind: 'message'
  readonly origin: Origin
  readonly message: WireMessage
  /** The message's own text, byte for byte; for an answer, the provider's complete message object. */
  readonly json: JsonText
  /** What the engine made it for. A summary, an attachment and a kept copy are in view only through their boundary. */
  readonly part?: 'summary' | 'attachment' | 'kept' | 'interrupted'
  /** For a kept copy: the message that it repeats, byte for byte, and represents in view. */
  readonly copyOf?: EntryId
  readonly responseId?: string
  readonly requestId?: string
  readonly model?: string
  /** As reported. A broken-off answer has none: its estimated cost is in a separate entry. */
  readonly usage?: Usage
  /** For an answer: it was broken off, and this is the part that arrived. */
  readonly interrupted?: true
  /** Chain hash of what was sent when this answer was made. Its thinking may be sent only after the same content. */
  readonly under?: Hash
  /**
   * For a signed compaction block: the hash that an answer kept directly after it was made under, linked to the system prompt and tools of
   * that time. The signature vouches for the one by the other, so kept thinking stays valid as long as this fits.
   */
  readonly standsFor?: Hash
  /** Files that it shows, or that the calls it answers changed. */
  readonly files?: readonly SeenFile[]
  /** Estimated tokens of the messages that were sent for this answer, before calibration. Later counts start from it. */
  readonly sentEstimate?: number
}

/** Layer 1: a result that is on disk; from here on the model sees the stand-in. */
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
  /** Repeats a replacement for blocks that a compaction or a branch repeats. It removes nothing, and the prefix is new anyway. */
  | 'again'

/** A declared change to earlier messages: besides a boundary, the only thing that may break the prefix. */
export interface EditEntry extends EntryBase {
  readonly kind: 'edit'
  readonly cause: EditCause
  readonly replace: readonly { readonly at: BlockRef; readonly with: readonly JsonText[] }[]
  /** Message entries that leave the view completely. */
  readonly drop: readonly EntryId[]
  readonly freedTokens: number
}

export interface KeptSegment {
  /** First and last kept message entry; everything between them on the chain is kept too. */
  readonly head: EntryId
  readonly tail: EntryId
  /** What comes before the first kept message: the last summary message for a kept tail, the boundary for a kept head. */
  readonly anchor: EntryId
}

/** A compaction. It takes effect once every message that it names has been read. */
export interface BoundaryEntry extends EntryBase {
  readonly kind: 'boundary'
  readonly summary: readonly EntryId[]
  readonly kept?: KeptSegment
  /** `head`: the kept messages come first, and the summary replaces what followed them. */
  readonly keeps: 'tail' | 'head'
  /**
   * Other messages that stay, after the summary and before a kept tail. They are copies, so that loading need not look for the originals.
   */
  readonly copies?: readonly EntryId[]
  readonly attachments: readonly EntryId[]
  readonly logicalParent: EntryId | null
  readonly meta: BoundaryMeta
}

/** An entry that removed something from view and can be undone. */
export type RemovalEntry = BoundaryEntry | EditEntry

export function isRemoval(entry: Entry): entry is RemovalEntry {
  return entry.kind === 'boundary' || (entry.kind === 'edit' && entry.cause !== 'again')
}

/** The messages that a boundary brings with it. */
export function partsOf({ summary, copies = [], attachments }: BoundaryEntry): readonly EntryId[] {
  return [...summary, ...copies, ...attachments]
}

/** True if the message is in view only through the boundary that names it. */
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
  /** Byte offset in the file of the first kept message: loading begins there. */
  readonly keptOffset?: number
  /** Byte offset of the prefix in force, which may be far earlier. */
  readonly prefixOffset?: number
  readonly extra?: JsonObject
}

/** An undo: the target counts as absent. Voiding a void restores its target. */
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

/** A model call that left no answer in the conversation: a summary, notes, a broken-off answer. It only counts for the bill. */
export interface SpentEntry extends EntryBase {
  readonly kind: 'spent'
  /** Who asked. */
  readonly source: string
  readonly model: string
  readonly usage: Usage
  /** The provider never reported the usage: the answer was broken off or thrown away. */
  readonly estimated?: true
}

/** What the resume list shows. Written again after a boundary, so that it is near the end of the file. */
export interface TitleEntry extends EntryBase {
  readonly kind: 'title'
  readonly title: string
  readonly firstPrompt: string
}

/** A line of a kind that has no meaning in this version. It keeps its place in the chain and its bytes. */
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
