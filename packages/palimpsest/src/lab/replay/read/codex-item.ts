import type { JsonObject } from '../../../wire/json.ts'
import { isBlock, toBlocks, type Block, type WireMessage } from '../../../wire/message.ts'
import { imageFromUrl, joinedText, parsedInput, textBlocks, toolInput, wireName } from './convert.ts'
import { objectsField, textField } from './field.ts'

// Items of Codex's conversation as Messages API blocks.

/** Blocks of a message item. A developer's message has no role of its own, so it becomes the user's. */
export function messageBlocks(item: JsonObject): Block[] {
  return objectsField(item, 'content').flatMap(contentBlock)
}

/** Blocks of an item that the model made: undefined if it is not such an item, empty if the item is. */
export function answerBlocks(item: JsonObject, key: string): Block[] | undefined {
  switch (item['type']) {
    case 'message':
      return messageBlocks(item)
    case 'reasoning':
      return reasoningBlocks(item)
    case 'function_call':
      return [toolUse(item, parsedInput(textField(item, 'arguments'), 'arguments'))]
    case 'custom_tool_call':
      return [toolUse(item, toolInput(item['input'], 'input'))]
    case 'tool_search_call':
      return [toolUse({ ...item, name: 'tool_search' }, toolInput(item['arguments'], 'arguments'))]
    case 'local_shell_call':
      return [toolUse({ ...item, name: 'local_shell' }, toolInput(item['action'], 'action'))]
    case 'web_search_call':
      return webSearch(item, key)
    default:
      return undefined
  }
}

/** The result of a call; undefined if the item is not one. */
export function outputBlock(item: JsonObject): Block | undefined {
  const tool_use_id = wireName(textField(item, 'call_id') ?? '')
  switch (item['type']) {
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { type: 'tool_result', tool_use_id, content: outputContent(item) }
    case 'tool_search_output':
      return { type: 'tool_result', tool_use_id, content: JSON.stringify(item['tools'] ?? []) }
    default:
      return undefined
  }
}

export function itemText(message: WireMessage): string {
  return toBlocks(message.content)
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('\n')
}

function toolUse(item: JsonObject, input: JsonObject): Block {
  const namespace = textField(item, 'namespace')
  const name = textField(item, 'name') ?? ''
  return {
    type: 'tool_use',
    id: wireName(textField(item, 'call_id') ?? ''),
    name: wireName(namespace === undefined ? name : `${namespace}__${name}`),
    input,
  }
}

/** The search results stayed with the provider, so their list is empty. */
function webSearch(item: JsonObject, key: string): Block[] {
  const id = `srvtoolu_line_${key}`
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: toolInput(item['action'], 'action') },
    { type: 'web_search_tool_result', tool_use_id: id, content: [] },
  ]
}

function reasoningBlocks(item: JsonObject): Block[] {
  const thinking = joinedText(item['summary'])
  const signature = textField(item, 'encrypted_content') ?? ''
  return thinking === '' && signature === '' ? [] : [{ type: 'thinking', thinking, signature }]
}

function outputContent(item: JsonObject): string | Block[] {
  const output = textField(item, 'output')
  if (output !== undefined) return output
  const blocks = objectsField(item, 'output').flatMap(contentBlock)
  return blocks.length > 0 ? blocks : JSON.stringify(item['output'] ?? '')
}

function contentBlock(part: JsonObject): Block[] {
  const image = textField(part, 'image_url')
  return image === undefined ? textBlocks(textField(part, 'text')) : [imageFromUrl(image)]
}
