import type { MessageEntry } from '../transcript/entry.ts'
import { isBlock, toBlocks, type Block, type ToolResultBlock } from '../wire/message.ts'

// A message as text, word for word.

/** `stored`: results that went to disk, by tool use id; the message only has a preview of them. */
export function messageText(
  { message }: Pick<MessageEntry, 'message'>,
  stored: ReadonlyMap<string, string> = new Map(),
): string {
  return toBlocks(message.content)
    .map((block) => blockText(block, stored))
    .filter((text) => text !== '')
    .join('\n\n')
}

function blockText(block: Block, stored: ReadonlyMap<string, string>): string {
  if (isBlock(block, 'text')) return block.text
  if (isBlock(block, 'tool_use')) return `${block.name} ${JSON.stringify(block.input)}`
  if (isBlock(block, 'tool_result')) return stored.get(block.tool_use_id) ?? resultText(block)
  return isBlock(block, 'image') || isBlock(block, 'document') ? `[${block.type}]` : ''
}

function resultText({ content }: ToolResultBlock): string {
  return toBlocks(content ?? '')
    .map((part) => (isBlock(part, 'text') ? part.text : `[${part.type}]`))
    .join('\n')
}
