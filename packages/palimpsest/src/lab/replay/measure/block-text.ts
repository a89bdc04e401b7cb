import { isJsonObject } from '../../../wire/json.ts'
import { isBlock, toBlocks, type Block } from '../../../wire/message.ts'

/** What a reader of the conversation sees of a block, as plain text. Thinking and media have none. */
export function blockText(block: Block): string {
  if (isBlock(block, 'text')) return block.text
  if (isBlock(block, 'tool_result'))
    return toBlocks(block.content)
      .flatMap((part) => (isBlock(part, 'text') ? [part.text] : []))
      .join('\n')
  if (isBlock(block, 'tool_use')) return [block.name, ...leaves(block.input)].join('\n')
  return ''
}

/** Strings and numbers of a tool's input, in order. Keys are left out: they are the tool's own words. */
export function leaves(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (typeof value === 'number') return [String(value)]
  if (Array.isArray(value)) return value.flatMap(leaves)
  return isJsonObject(value) ? Object.values(value).flatMap(leaves) : []
}
