import { isBlock, isServerToolResult, type Block } from '../../../wire/message.ts'
import type { MessagesRequest } from '../../../wire/request.ts'
import { refuse, type Refusal } from '../refusal.ts'
import type { Turn } from '../turns.ts'
import type { JudgedModel } from './judged.ts'

// Which roles may follow which, and what a message must not be.

export function checkTurns(
  request: MessagesRequest,
  turns: readonly Turn[],
  judged: JudgedModel,
): Refusal | undefined {
  return (
    checkFirst(turns, judged) ??
    checkSystemRole(turns, judged) ??
    checkEmptyMessages(request) ??
    checkPrefill(request, turns, judged)
  )
}

function checkFirst(turns: readonly Turn[], { switches }: JudgedModel): Refusal | undefined {
  const first = turns[0]
  if (!first || first.role !== 'assistant' || switches.firstMessageAssistant === 'accept') return undefined
  const begins = first.blocks[0]?.block
  return begins && isBlock(begins, 'compaction') ? undefined : refuse('messages.first-role')
}

function checkSystemRole(turns: readonly Turn[], judged: JudgedModel): Refusal | undefined {
  for (const [at, turn] of turns.entries()) {
    if (turn.role !== 'system') continue
    const index = turn.start
    if (!judged.facts.capabilities.systemMessages) return refuse('system-role.unsupported', { index })
    const before = turns[at - 1]
    if (!before) return refuse('system-role.first', { index })
    if (before.role === 'assistant' && !endsInServerResult(before))
      return refuse('system-role.after', { index })
    if (turns[at + 1]?.role === 'user') return refuse('system-role.before', { index })
  }
  return undefined
}

function endsInServerResult(turn: Turn): boolean {
  const last = turn.blocks.at(-1)?.block
  return last !== undefined && isServerToolResult(last)
}

/** A system message may be empty if it carries settings; a final assistant message may always be. */
function checkEmptyMessages({ messages }: MessagesRequest): Refusal | undefined {
  const last = messages.length - 1
  const index = messages.findIndex((message, i) => {
    const isEmpty = message.content === undefined || message.content.length === 0
    if (!isEmpty) return false
    if (message.role === 'system') return !message.output_config && !message.clear_at
    return !(message.role === 'assistant' && i === last)
  })
  return index < 0 ? undefined : refuse('messages.empty', { index })
}

function checkPrefill(
  request: MessagesRequest,
  turns: readonly Turn[],
  { facts, counting }: JudgedModel,
): Refusal | undefined {
  const last = turns.at(-1)
  if (last?.role !== 'assistant' || counting || request.compaction) return undefined
  const end = last.blocks.at(-1)?.block
  if (end && isContinuable(end)) return undefined
  // Models with adaptive thinking are those that no longer accept prefilling.
  if (facts.thinking.modes.includes('adaptive')) return refuse('messages.prefill')
  return end && isBlock(end, 'text') && end.text !== end.text.trimEnd()
    ? refuse('messages.prefill-whitespace')
    : undefined
}

/** Clients send back a paused turn, or a compaction block, as it is; the pairing rules judge a tool use. */
function isContinuable(block: Block): boolean {
  return (
    isServerToolResult(block) ||
    isBlock(block, 'server_tool_use') ||
    isBlock(block, 'compaction') ||
    isBlock(block, 'tool_use')
  )
}
