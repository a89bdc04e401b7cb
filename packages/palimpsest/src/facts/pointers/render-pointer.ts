import { readCall } from '../read-call.ts'
import type { MessageEntry } from '../../transcript/entry.ts'
import { recallOf } from '../../transcript/recall-tool.ts'
import { isBlock, toBlocks, type Block, type ToolUseBlock } from '../../wire/message.ts'

// The text of a pointer: what was seen where, and how to see it again.

export interface FoundPlace {
  readonly entry: MessageEntry
  /** The names that it contains, longest first. */
  readonly names: readonly string[]
  /** The call that the entry's result belongs to, if it has one. */
  readonly call: ToolUseBlock | undefined
}

const NAMES_SHOWN = 3
const TARGET_CHARS_MAX = 120
/** Lines before and after the last occurrence of the name. */
const LINES_AROUND = 2
const LINE_CHARS_MAX = 200

export function renderPointer(place: FoundPlace, mayRecall: boolean): string {
  const { names, entry } = place
  const shown = names.slice(0, NAMES_SHOWN).join(', ')
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : ''
  const way = mayRecall ? `; ${recallOf(entry.id)} shows it` : ''
  return `[Data, from earlier: ${shown}${more} last seen in ${whereOf(place)}${way}.]`
}

/** Five lines of it, instead of the way to it. */
export function renderExcerpt(place: FoundPlace): string {
  const [name = ''] = place.names
  const lines = textOf(place.entry, name).split('\n')
  const at = lines.findLastIndex((line) => line.includes(name))
  const around = lines.slice(Math.max(0, at - LINES_AROUND), at + LINES_AROUND + 1)
  const cut = around.map((line) => line.slice(0, LINE_CHARS_MAX))
  return `[Data, from earlier: ${name} in ${whereOf(place)}:]\n${cut.join('\n')}`
}

function whereOf({ call, entry }: FoundPlace): string {
  if (!call) return entry.message.role === 'assistant' ? 'an answer' : 'a message'
  const target = readCall(call).target.replaceAll(/\s+/g, ' ').slice(0, TARGET_CHARS_MAX)
  return `the result of ${call.name}${target === '' ? '' : ` ${target}`}`
}

/** The text of the last block that contains the name. */
function textOf({ message }: MessageEntry, name: string): string {
  const texts = toBlocks(message.content).map(blockText)
  return texts.findLast((text) => text.includes(name)) ?? ''
}

function blockText(block: Block): string {
  if (isBlock(block, 'text')) return block.text
  if (isBlock(block, 'tool_use')) return leaves(block.input).join('\n')
  if (!isBlock(block, 'tool_result')) return ''
  return toBlocks(block.content ?? '')
    .map((part) => (isBlock(part, 'text') ? part.text : ''))
    .join('\n')
}

function leaves(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : []
}
