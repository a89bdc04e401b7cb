import type { Entry, MessageEntry } from '../transcript/entry.ts'
import { RECALL_TOOL } from '../transcript/recall-tool.ts'
import { isBlock, isThinking, toBlocks, type Block } from '../wire/message.ts'

// The content of an entry, as texts to search and quote.

export type TextKind =
  | 'user'
  | 'assistant'
  | 'system'
  | 'thinking'
  | 'tool_use'
  | 'tool_result'
  | 'summary'
  | 'attachment'
  | 'notes'
  | 'other'

export interface EntryText {
  readonly kind: TextKind
  readonly text: string
}

/** No real message has a deeper value. */
const DEPTH_MAX = 50

export function textsOf(entry: Entry): readonly EntryText[] {
  switch (entry.kind) {
    case 'message':
      // A copy repeats a message that is already in the file, and so does recalled text.
      return entry.part === 'kept' || entry.origin === 'recall'
        ? []
        : toBlocks(entry.message.content).flatMap((block) => blockTexts(entry, block))
    case 'notes':
      return [{ kind: 'notes', text: entry.text }]
    case 'other':
      return leavesOf(parsed(entry.line)).map((text) => ({ kind: 'other', text }))
    case 'prefix':
    case 'stored':
    case 'edit':
    case 'boundary':
    case 'void':
    case 'pin':
    case 'mail':
    case 'spent':
    case 'title':
      return []
    default:
      return entry satisfies never
  }
}

/** The texts of one block of a message. */
export function blockTexts(entry: MessageEntry, block: Block): readonly EntryText[] {
  if (isBlock(block, 'text')) return [{ kind: kindOf(entry), text: block.text }]
  if (isThinking(block)) return isBlock(block, 'thinking') ? [{ kind: 'thinking', text: block.thinking }] : []
  // A search for something is not a statement about it.
  if (isBlock(block, 'tool_use') && block.name === RECALL_TOOL) return []
  if (isBlock(block, 'tool_use'))
    return [block.name, ...leavesOf(block.input)].map((text) => ({ kind: 'tool_use', text }))
  if (isBlock(block, 'tool_result')) {
    const parts = toBlocks(block.content ?? '')
    return parts.flatMap((part) => (isBlock(part, 'text') ? [{ kind: 'tool_result', text: part.text }] : []))
  }
  // Images and documents contain their bytes as text, which no one searches.
  return isBlock(block, 'image') || isBlock(block, 'document')
    ? []
    : leavesOf(block).map((text) => ({ kind: kindOf(entry), text }))
}

function kindOf({ part, message }: MessageEntry): TextKind {
  return part === 'summary' || part === 'attachment' ? part : message.role
}

/** All strings in a value, in order. */
export function leavesOf(value: unknown, depth = 0): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return []
  return Object.values(value).flatMap((inner: unknown) => leavesOf(inner, depth + 1))
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // Text that is not JSON is searched as it is.
    return line
  }
}
