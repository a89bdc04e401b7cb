import {
  isBlock,
  toBlocks,
  type Block,
  type ImageBlock,
  type ToolResultBlock,
  type WireMessage,
} from '../../wire/message.ts'
import type { AssistantPart, ChatMessage, ChatPrompt, ToolPart, UserPart } from './chat-model.ts'

// Messages in the form of chat completions: the results of calls are messages of their own, directly after the calls. A result is text, so
// its images go into the user message after it. Thinking is omitted: most servers refuse it or strip it from earlier turns. Adjacent
// messages of one role are merged: chat templates want user and assistant to alternate.

export function toPrompt(messages: readonly WireMessage[]): ChatPrompt {
  const prompt: ChatMessage[] = []
  const names = new Map<string, string>()
  for (const { role, content } of messages) {
    const blocks = toBlocks(content)
    if (role === 'assistant') pushAssistant(prompt, blocks, names)
    else pushUser(prompt, blocks, names)
  }
  return prompt
}

function pushAssistant(prompt: ChatMessage[], blocks: readonly Block[], names: Map<string, string>): void {
  const parts = blocks.flatMap((block): AssistantPart[] => {
    if (isBlock(block, 'text')) return block.text === '' ? [] : [{ type: 'text', text: block.text }]
    if (!isBlock(block, 'tool_use')) return []
    names.set(block.id, block.name)
    return [{ type: 'tool-call', toolCallId: block.id, toolName: block.name, input: block.input }]
  })
  if (parts.length === 0) return
  const before = prompt.at(-1)
  if (before?.role === 'assistant') before.content.push(...parts)
  else prompt.push({ role: 'assistant', content: parts })
}

function pushUser(prompt: ChatMessage[], blocks: readonly Block[], names: ReadonlyMap<string, string>): void {
  const results = blocks.filter((block) => isBlock(block, 'tool_result'))
  const answers = results.map((result): ToolPart => ({
    type: 'tool-result',
    toolCallId: result.tool_use_id,
    toolName: names.get(result.tool_use_id) ?? 'unknown',
    output: { type: result.is_error === true ? 'error-text' : 'text', value: resultText(result) },
  }))
  if (answers.length > 0) prompt.push({ role: 'tool', content: answers })
  const shown = results.flatMap((result) => toBlocks(result.content).flatMap(imagePart))
  const said = blocks.flatMap((block) => (isBlock(block, 'tool_result') ? [] : userPart(block)))
  const parts = [...shown, ...said]
  if (parts.length === 0) return
  const before = prompt.at(-1)
  if (before?.role === 'user') before.content.push(...parts)
  else prompt.push({ role: 'user', content: parts })
}

const NO_OUTPUT = '(no output)'
const IMAGE_BELOW = '(an image: it follows with the next message)'

/** Some templates fail on an empty result. */
function resultText({ content }: ToolResultBlock): string {
  const texts = toBlocks(content).map((block) => (isBlock(block, 'image') ? IMAGE_BELOW : textOf(block)))
  return texts.filter((text) => text !== '').join('\n') || NO_OUTPUT
}

function userPart(block: Block): UserPart[] {
  if (isBlock(block, 'image')) return imagePart(block)
  const text = textOf(block)
  return text === '' ? [] : [{ type: 'text', text }]
}

function imagePart(block: Block): UserPart[] {
  if (!isBlock(block, 'image')) return []
  const data = imageData(block)
  if (data === undefined) return [{ type: 'text', text: '(an image that this server cannot be shown)' }]
  return [{ type: 'file', mediaType: block.source.media_type ?? 'image/png', data }]
}

function imageData({ source }: ImageBlock): Extract<UserPart, { type: 'file' }>['data'] | undefined {
  if (source.data !== undefined) return { type: 'data', data: source.data }
  if (source.url !== undefined && URL.canParse(source.url)) return { type: 'url', url: new URL(source.url) }
  return undefined
}

/** The text of a block; a block without text is named, never dropped silently. */
function textOf(block: Block): string {
  if (isBlock(block, 'text')) return block.text
  if (isBlock(block, 'compaction')) return block.content ?? ''
  if (isBlock(block, 'search_result')) return block.content.map(({ text }) => text).join('\n')
  if (!isBlock(block, 'document')) return `(a block of type ${block.type}, which this server does not take)`
  const { source, title } = block
  if (source.type === 'text' && source.data !== undefined) return source.data
  return `(a document${title ? `, ${title}` : ''}, which this server does not take)`
}
