import { isJsonObject } from '../../wire/json.ts'
import { isBlock, toBlocks, type WireMessage } from '../../wire/message.ts'
import type { ToolResult } from './search/read-results.ts'

// The current turn: the last thing that the user said, and the calls and results since.

export interface TurnSoFar {
  /** The newest text of the last user message that has one. */
  readonly asked: string
  /** Index of that message. */
  readonly at: number
  /** The conversation without that text. */
  readonly before: readonly WireMessage[]
  /** Number of answers with calls since then. */
  readonly rounds: number
  readonly results: readonly ToolResult[]
}

export function turnSoFar(messages: readonly WireMessage[]): TurnSoFar {
  const at = messages.findLastIndex((message) => message.role === 'user' && newestText(message) !== undefined)
  const since = messages.slice(at + 1)
  return {
    asked: newestText(messages[at]) ?? '',
    at,
    before: [...messages.slice(0, Math.max(0, at)), ...withoutNewestText(messages[at])],
    rounds: since.filter((message) => message.role === 'assistant' && callsOf(message).length > 0).length,
    results: resultsOf(since),
  }
}

/** A message may begin with context that the user did not type; the question is last. */
function newestText(message: WireMessage | undefined): string | undefined {
  return toBlocks(message?.content)
    .flatMap((block) => (isBlock(block, 'text') && isSaid(block.text) ? [block.text] : []))
    .at(-1)
}

/** The note about the current mode is at the end of a conversation, after the question. */
const MODE = /^<plan-mode(?:-over)?>/

function isSaid(text: string): boolean {
  return text.trim() !== '' && !MODE.test(text)
}

function withoutNewestText(message: WireMessage | undefined): readonly WireMessage[] {
  const blocks = toBlocks(message?.content)
  const newest = blocks.findLastIndex((block) => isBlock(block, 'text') && isSaid(block.text))
  const content = blocks.filter((_, i) => i !== newest)
  return message && content.length > 0 ? [{ ...message, content }] : []
}

function callsOf({ content }: WireMessage) {
  return toBlocks(content).flatMap((block) => (isBlock(block, 'tool_use') ? [block] : []))
}

function resultsOf(messages: readonly WireMessage[]): readonly ToolResult[] {
  const calls = new Map(messages.flatMap(callsOf).map((use) => [use.id, use]))
  return messages
    .flatMap(({ content }) => toBlocks(content))
    .flatMap((block) => {
      if (!isBlock(block, 'tool_result')) return []
      const use = calls.get(block.tool_use_id)
      if (!use) return []
      const text = toBlocks(block.content)
        .flatMap((part) => (isBlock(part, 'text') ? [part.text] : []))
        .join('\n')
      const input = isJsonObject(use.input) ? use.input : {}
      return [{ name: use.name, input, text, isError: block.is_error === true }]
    })
}
