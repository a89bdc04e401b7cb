import type { MessageEntry, Origin } from '../transcript/entry.ts'
import type { Block, ToolResultBlock, ToolUseBlock } from '../wire/message.ts'
import { messageBody, type EntryBody } from './session.ts'

// A tool result arrived: the first of the engine's four moments.

export interface ArrivedResult {
  readonly content: string | readonly Block[]
  readonly isError?: boolean
  readonly origin?: Extract<Origin, 'tool' | 'web' | 'mcp' | 'user'>
}

/** The entry of a result. Some models end their turn on an empty result, so it gets a stand-in. */
export function onToolResult(use: ToolUseBlock, arrived: ArrivedResult): EntryBody<MessageEntry> {
  const empty = arrived.content.length === 0
  const block: ToolResultBlock = {
    type: 'tool_result',
    tool_use_id: use.id,
    content: empty ? `(${use.name} completed with no output)` : arrived.content,
    ...(arrived.isError ? { is_error: true } : {}),
  }
  return messageBody({ role: 'user', content: [block] }, arrived.origin ?? 'tool')
}
