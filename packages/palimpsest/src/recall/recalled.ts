import type { BlobRef, Entry, EntryId, MessageEntry } from '../transcript/entry.ts'
import { isBlock, toBlocks, type ToolUseBlock } from '../wire/message.ts'
import { messageText } from './entry-text.ts'

// What is found under an id, and how it is described.

export interface RecallSource {
  /** Entries of the conversation, in the order in which they were written. `isWanted` receives a line's bytes as characters. */
  readonly entries: (isWanted: (line: string) => boolean) => AsyncIterable<Entry>
  /** The complete stored result. Undefined if it is gone. */
  readonly blob: (blob: BlobRef) => Promise<string | undefined>
}

export interface RecalledText {
  readonly id: EntryId
  /** Milliseconds since 1970; NaN if unknown. */
  readonly at: number
  /** What the text is: `result of Bash {…}`. */
  readonly what: string
  readonly text: string
}

/** One row of a list: describes what an id stands for, without the text. */
export type RecalledRow = Omit<RecalledText, 'text'> & { readonly chars: number }

export type Recalled =
  | { readonly kind: 'texts'; readonly texts: readonly RecalledText[] }
  /** Too much to show at once, or several entries that an id may mean. */
  | { readonly kind: 'rows'; readonly rows: readonly RecalledRow[] }
  | { readonly kind: 'none' }

/** The id of an entry; for a copy, of what it repeats. */
export function ownId(entry: Entry): EntryId {
  return entry.kind === 'message' ? (entry.copyOf ?? entry.id) : entry.id
}

export function resultIds({ message }: MessageEntry): readonly string[] {
  return toBlocks(message.content).flatMap((block) =>
    isBlock(block, 'tool_result') ? [block.tool_use_id] : [],
  )
}

/** Matches a line that contains one of the ids; characters outside ASCII may be escaped there. */
export function holding(ids: readonly string[]): (line: string) => boolean {
  const isPlain = ids.every((id) => /^[\x20-\x7e]+$/.test(id) && !/["\\]/.test(id))
  return isPlain ? (line) => ids.some((id) => line.includes(id)) : () => true
}

/** The text of an entry, with the calls that asked for its results, and with stored results in full. */
export async function textOf(entry: Entry, source: RecallSource): Promise<RecalledText> {
  const about = { id: ownId(entry), at: entry.at }
  if (entry.kind === 'notes') return { ...about, what: 'notes', text: entry.text }
  if (entry.kind === 'stored')
    return { ...about, what: 'stored result', text: (await source.blob(entry.blob)) ?? '' }
  if (entry.kind !== 'message') return { ...about, what: entry.kind, text: '' }
  const { calls, stored } = await resultsOf([entry], source)
  return { ...about, what: whatOf(entry, calls), text: messageText(entry, stored) }
}

interface Results {
  readonly calls: ReadonlyMap<string, ToolUseBlock>
  readonly stored: ReadonlyMap<string, string>
}

/** The calls that asked for the results of these messages, and the texts of results that went to disk. */
export async function resultsOf(entries: readonly MessageEntry[], source: RecallSource): Promise<Results> {
  const ids = entries.flatMap(resultIds)
  const calls = new Map<string, ToolUseBlock>()
  const blobs = new Map<string, BlobRef>()
  for await (const entry of ids.length > 0 ? source.entries(holding(ids)) : []) {
    if (entry.kind === 'stored' && ids.includes(entry.toolUseId)) blobs.set(entry.toolUseId, entry.blob)
    if (entry.kind === 'message') for (const use of usesIn(entry)) calls.set(use.id, use)
  }
  const stored = new Map<string, string>()
  for (const [id, blob] of blobs) {
    const text = await source.blob(blob)
    if (text !== undefined) stored.set(id, text)
  }
  return { calls, stored }
}

export function usesIn({ message }: MessageEntry): readonly ToolUseBlock[] {
  return toBlocks(message.content).flatMap((block) => (isBlock(block, 'tool_use') ? [block] : []))
}

export function rowOf(entry: Entry, calls: ReadonlyMap<string, ToolUseBlock>): RecalledRow {
  const about = { id: ownId(entry), at: entry.at }
  if (entry.kind !== 'message') return { ...about, what: entry.kind, chars: 0 }
  return { ...about, what: whatOf(entry, calls), chars: messageText(entry).length }
}

const INPUT_CHARS_MAX = 120

function whatOf(entry: MessageEntry, calls: ReadonlyMap<string, ToolUseBlock>): string {
  const results = resultIds(entry)
  if (results.length > 0) {
    const asked = results.map((id) => calls.get(id)).flatMap((use) => (use ? [nameOf(use)] : []))
    return asked.length > 0 ? `result of ${asked.join(', ')}` : 'result of a tool'
  }
  if (entry.message.role !== 'assistant')
    return entry.origin === 'user' ? 'message of the user' : `text from ${entry.origin}`
  const uses = usesIn(entry)
  return uses.length > 0 ? `answer, calls ${uses.map(nameOf).join(', ')}` : 'answer'
}

function nameOf({ name, input }: ToolUseBlock): string {
  const text = JSON.stringify(input)
  return `${name} ${text.length > INPUT_CHARS_MAX ? `${text.slice(0, INPUT_CHARS_MAX)}…` : text}`
}
