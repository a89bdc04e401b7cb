import { isJsonObject, type JsonObject } from '../../wire/json.ts'
import type { AiMessage, AiOptions } from './ai-message.ts'
import { fromJson } from './carry-data.ts'
import { PART_BLOCK, MESSAGE_OPTIONS, OPTIONS, OUTPUT } from './to-wire.ts'

// And back. Blocks that a layer wrote, a stand-in or a summary, become plain text and plain results.

export function fromWire(messages: readonly unknown[], system: readonly unknown[] = []): AiMessage[] {
  const names = new Map<string, string>()
  const heads = system.filter(isJsonObject).map((block) => systemMessage([block]))
  return [...heads, ...messages.filter(isJsonObject).flatMap((message) => messagesFrom(message, names))]
}

/** Results come first in a message, and are a message of their own here. */
function messagesFrom(message: JsonObject, names: Map<string, string>): AiMessage[] {
  const { role, content } = message
  const blocks =
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : Array.isArray(content)
        ? content.filter(isJsonObject)
        : []
  if (role === 'system') return [systemMessage(blocks)]
  if (role === 'assistant')
    return [withOptions({ role: 'assistant', content: blocks.map((block) => partOf(block, names)) }, blocks)]
  const results = blocks.filter((block) => block['type'] === 'tool_result' || isApproval(block))
  const others = blocks.filter((block) => !results.includes(block))
  const tool: AiMessage = { role: 'tool', content: results.map((block) => partOf(block, names)) }
  const user: AiMessage = { role: 'user', content: others.map((block) => partOf(block, names)) }
  return [
    ...(results.length > 0 ? [withOptions(tool, results)] : []),
    ...(others.length > 0 ? [withOptions(user, others)] : []),
  ]
}

/** The user's approval of a call is among the results too. */
function isApproval({ type, part }: JsonObject): boolean {
  return type === PART_BLOCK && isJsonObject(part) && part['type'] === 'tool-approval-response'
}

function systemMessage(blocks: readonly JsonObject[]): AiMessage {
  const content = blocks.map(({ text }) => (typeof text === 'string' ? text : '')).join('\n')
  const last = blocks.at(-1)
  const options = { ...optionsIn(blocks[0]?.[MESSAGE_OPTIONS]), ...cacheOptions(last) }
  return { role: 'system', content, ...(Object.keys(options).length > 0 ? { providerOptions: options } : {}) }
}

function withOptions(message: AiMessage, blocks: readonly JsonObject[]): AiMessage {
  const options = optionsIn(blocks[0]?.[MESSAGE_OPTIONS])
  return options ? { ...message, providerOptions: options } : message
}

function partOf(block: JsonObject, names: Map<string, string>): object {
  const own = optionsIn(block[OPTIONS])
  const cache = cacheOptions(block)
  const anthropic = { ...own?.['anthropic'], ...cache['anthropic'] }
  const options = Object.keys(anthropic).length > 0 ? { ...own, anthropic } : own
  return { ...barePart(block, names), ...(options ? { providerOptions: options } : {}) }
}

function barePart(block: JsonObject, names: Map<string, string>): object {
  const { type, id, name } = block
  if (type === PART_BLOCK) return objectFrom(block['part'])
  if (type === 'thinking') return { type: 'reasoning', text: block['thinking'] }
  if (type === 'tool_use' && typeof id === 'string' && typeof name === 'string') {
    names.set(id, name)
    return { type: 'tool-call', toolCallId: id, toolName: name, input: fromJson(block['input']) }
  }
  if (type === 'tool_result') return resultPart(block, names)
  return { type: 'text', text: typeof block['text'] === 'string' ? block['text'] : '' }
}

function resultPart(block: JsonObject, names: Map<string, string>): object {
  const { tool_use_id: id, content } = block
  const toolCallId = typeof id === 'string' ? id : ''
  const output = outputFrom(content, block[OUTPUT])
  return { type: 'tool-result', toolCallId, toolName: names.get(toolCallId) ?? 'tool', output }
}

function outputFrom(content: unknown, kept: unknown): object {
  if (!isJsonObject(kept))
    return { type: 'text', value: typeof content === 'string' ? content : textOf(content) }
  const { type } = kept
  if (type === 'json' || type === 'error-json') {
    const value: unknown = JSON.parse(String(content))
    return { ...kept, value }
  }
  if (type === 'content' && Array.isArray(content))
    return {
      ...kept,
      value: content.map((part: unknown) =>
        isJsonObject(part) && part['type'] === PART_BLOCK ? fromJson(part['part']) : part,
      ),
    }
  if (type === 'text' || type === 'error-text') return { ...kept, value: content }
  return objectFrom(kept)
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return ''
  return content
    .flatMap((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? [part['text']] : []))
    .join('\n')
}

function objectFrom(value: unknown): object {
  const found = fromJson(value)
  return typeof found === 'object' && found !== null ? found : { type: 'text', text: '' }
}

function optionsIn(value: unknown): AiOptions | undefined {
  return isOptions(value) ? value : undefined
}

function isOptions(value: unknown): value is AiOptions {
  return isJsonObject(value) && Object.values(value).every(isJsonObject)
}

/** Providers without breakpoints ignore Anthropic's options. */
function cacheOptions(block: JsonObject | undefined): AiOptions {
  const control = block?.['cache_control']
  return isJsonObject(control) ? { anthropic: { cacheControl: control } } : {}
}
