import {
  isBlock,
  isThinking,
  toBlocks,
  type Block,
  type Role,
  type WireMessage,
} from '../../../wire/message.ts'
import type { ModelFacts } from '../../../wire/model-facts.ts'
import type { ContextEdit, MessagesRequest } from '../../../wire/request.ts'
import type { AppliedEdit } from '../../../wire/response.ts'
import type { Counter } from './count.ts'
import { keepBlocks } from './effective-request.ts'

// Server-side clearing, decided again for every request from the history that the client sends in full.

const CLEARED_TEXT = '[cleared]'
const TRIGGER_TOKENS = 100_000
const KEEP_USES = 3

type ClearUses = Extract<ContextEdit, { type: 'clear_tool_uses_20250919' }>
type ClearThinking = Extract<ContextEdit, { type: 'clear_thinking_20251015' }>

export interface Cleared {
  readonly request: MessagesRequest
  readonly applied: readonly AppliedEdit[]
}

/** `inputTokens` is the size of the request before any edit. */
export function applyEdits(
  request: MessagesRequest,
  facts: ModelFacts,
  counter: Counter,
  inputTokens: number,
): Cleared {
  let { messages } = request
  let tokens = inputTokens
  const applied: AppliedEdit[] = []
  for (const edit of request.context_management?.edits ?? []) {
    const done = applyEdit(edit, { messages, facts, counter, tokens })
    if (!done) continue
    messages = done.messages
    tokens -= done.edit.cleared_input_tokens ?? 0
    applied.push(done.edit)
  }
  return { request: applied.length > 0 ? { ...request, messages } : request, applied }
}

interface EditInput {
  readonly messages: readonly WireMessage[]
  readonly facts: ModelFacts
  readonly counter: Counter
  readonly tokens: number
}

interface EditDone {
  readonly messages: readonly WireMessage[]
  readonly edit: AppliedEdit
}

function applyEdit(edit: ContextEdit, input: EditInput): EditDone | undefined {
  switch (edit.type) {
    case 'clear_thinking_20251015':
      return clearThinking(edit, input)
    case 'clear_tool_uses_20250919':
      return clearUses(edit, input)
    // Compaction samples the model, so it happens elsewhere.
    case 'compact_20260112':
      return undefined
    default:
      edit satisfies never
      return undefined
  }
}

function clearThinking(
  edit: ClearThinking,
  { messages: before, facts, counter }: EditInput,
): EditDone | undefined {
  const keep = thinkingTurnsKept(edit, facts)
  const thinking = before.flatMap(({ content }, i) => (toBlocks(content).some(isThinking) ? [i] : []))
  const cleared = new Set(thinking.slice(0, Math.max(0, thinking.length - keep)))
  if (cleared.size === 0) return undefined
  let freed = 0
  const messages = before.map((message, i) =>
    cleared.has(i)
      ? keepBlocks(message, (block) => {
          if (isThinking(block)) freed += counter.blockTokens(block, message.role)
          return !isThinking(block)
        })
      : message,
  )
  return {
    messages: messages.filter((message) => toBlocks(message.content).length > 0 || message.role === 'system'),
    edit: { type: edit.type, cleared_thinking_turns: cleared.size, cleared_input_tokens: freed },
  }
}

function thinkingTurnsKept(edit: ClearThinking, facts: ModelFacts): number {
  const { keep } = edit
  if (keep === undefined) return facts.thinking.keptAcrossTurns ? Infinity : 1
  return keep === 'all' || keep.type === 'all' ? Infinity : keep.value
}

function clearUses(edit: ClearUses, { messages: before, counter, tokens }: EditInput): EditDone | undefined {
  const uses = before.flatMap(({ content }) =>
    toBlocks(content).flatMap((block) => (isBlock(block, 'tool_use') ? [block] : [])),
  )
  const trigger = edit.trigger ?? { type: 'input_tokens', value: TRIGGER_TOKENS }
  const reached = trigger.type === 'tool_uses' ? uses.length : tokens
  if (reached <= trigger.value) return undefined
  const kept = edit.keep?.value ?? KEEP_USES
  const old = kept === 0 ? uses : uses.slice(0, -kept)
  const excluded = new Set(edit.exclude_tools)
  const names = new Map(old.filter(({ name }) => !excluded.has(name)).map(({ id, name }) => [id, name]))
  let freed = 0
  const clear = (block: Block, role: Role): Block => {
    const smaller = clearBlock(block, names, edit.clear_tool_inputs ?? false)
    if (smaller !== block) freed += counter.blockTokens(block, role) - counter.blockTokens(smaller, role)
    return smaller
  }
  const messages = before.map((message): WireMessage => {
    const { content, role } = message
    return typeof content === 'object'
      ? { ...message, content: content.map((block) => clear(block, role)) }
      : message
  })
  if (names.size === 0 || freed < (edit.clear_at_least?.value ?? 0)) return undefined
  return {
    messages,
    edit: { type: edit.type, cleared_tool_uses: names.size, cleared_input_tokens: Math.max(0, freed) },
  }
}

function clearBlock(
  block: Block,
  names: ReadonlyMap<string, string>,
  inputs: boolean | readonly string[],
): Block {
  if (isBlock(block, 'tool_result') && names.has(block.tool_use_id))
    return { ...block, content: CLEARED_TEXT }
  if (!isBlock(block, 'tool_use')) return block
  const name = names.get(block.id)
  if (name === undefined || inputs === false) return block
  return inputs === true || inputs.includes(name) ? { ...block, input: {} } : block
}
