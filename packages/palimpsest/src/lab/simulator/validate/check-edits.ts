import { isJsonObject } from '../../../wire/json.ts'
import { isBlock, toBlocks } from '../../../wire/message.ts'
import type { ContextEdit, MessagesRequest } from '../../../wire/request.ts'
import { refuse, type Refusal } from '../refusal.ts'
import { forcesTool } from './check-tools.ts'
import type { JudgedModel } from './judged.ts'

// Server-side context management, on-demand compaction and pre-warming: values, order, and what cannot be combined.

const COMPACT_TRIGGER_LEAST = 50_000

export function checkEdits(request: MessagesRequest, judged: JudgedModel): Refusal | undefined {
  return (
    checkEditList(request, judged) ??
    checkCompactionRequest(request, judged) ??
    checkPrewarm(request, judged) ??
    (request.thread?.type === 'continue' ? refuse('request.thread-not-found') : undefined)
  )
}

function checkEditList(request: MessagesRequest, judged: JudgedModel): Refusal | undefined {
  for (const [index, edit] of request.context_management?.edits?.entries() ?? []) {
    const refusal = checkEdit(edit, index, request, judged)
    if (refusal) return refusal
  }
  return undefined
}

function checkEdit(
  edit: ContextEdit,
  index: number,
  request: MessagesRequest,
  { facts, switches }: JudgedModel,
): Refusal | undefined {
  const { type } = edit
  const { capabilities } = facts
  switch (type) {
    case 'clear_thinking_20251015':
      if (!capabilities.clearThinking) return refuse('edits.unsupported', { index, type })
      if (index > 0) return refuse('edits.order')
      if (switches.clearThinkingNeedsThinking === 'refuse' && !thinks(request, facts.thinking.modes))
        return refuse('edits.thinking-off', { index })
      return isJsonObject(edit.keep) &&
        edit.keep['type'] === 'thinking_turns' &&
        !atLeast(edit.keep['value'], 1)
        ? refuse('edits.keep-value', { index })
        : undefined
    case 'clear_tool_uses_20250919':
      if (!capabilities.clearToolUses) return refuse('edits.unsupported', { index, type })
      return checkClearValues(edit, index)
    case 'compact_20260112':
      if (!capabilities.thresholdCompaction) return refuse('edits.unsupported', { index, type })
      return edit.trigger && !atLeast(edit.trigger.value, COMPACT_TRIGGER_LEAST)
        ? refuse('edits.value', { index, type, field: 'trigger', least: COMPACT_TRIGGER_LEAST })
        : undefined
    default:
      edit satisfies never
      return refuse('edits.tag', { index, tag: String(type) })
  }
}

function checkClearValues(
  edit: Extract<ContextEdit, { type: 'clear_tool_uses_20250919' }>,
  index: number,
): Refusal | undefined {
  const fields = { trigger: edit.trigger, keep: edit.keep, clear_at_least: edit.clear_at_least }
  for (const [field, setting] of Object.entries(fields)) {
    if (setting && !atLeast(setting.value, 0))
      return refuse('edits.value', { index, type: edit.type, field, least: 0 })
  }
  return undefined
}

function atLeast(value: unknown, least: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= least
}

function thinks(request: MessagesRequest, modes: readonly string[]): boolean {
  return request.thinking ? request.thinking.type !== 'disabled' : !modes.includes('disabled')
}

function checkCompactionRequest(
  request: MessagesRequest,
  { facts, counting, switches }: JudgedModel,
): Refusal | undefined {
  if (!request.compaction || counting) return undefined
  if (!facts.capabilities.onDemandCompaction) return refuse('compaction.unsupported')
  const field = replyOnlyField(request)
  if (field !== undefined) return refuse('compaction.combined', { field })
  const referenced = toolNames(request).size
  return referenced > switches.compactionToolReferencesMax
    ? refuse('compaction.references', { count: referenced })
    : undefined
}

/** The first field that only shapes an answer, and so has no meaning in a compaction request. */
function replyOnlyField(request: MessagesRequest): string | undefined {
  if (request.context_management) return 'context_management'
  if (request.stop_sequences && request.stop_sequences.length > 0) return 'stop_sequences'
  if (request.output_format || request.output_config?.format) return 'output_config.format'
  return forcesTool(request) ? 'tool_choice' : undefined
}

function toolNames(request: MessagesRequest): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { content } of request.messages)
    for (const block of toBlocks(content)) if (isBlock(block, 'tool_use')) names.add(block.name)
  return names
}

function checkPrewarm(request: MessagesRequest, { counting }: JudgedModel): Refusal | undefined {
  if (counting || request.max_tokens !== 0) return undefined
  if (request.stream) return refuse('prewarm.combined', { field: 'stream' })
  if (request.thinking?.type === 'enabled') return refuse('prewarm.combined', { field: 'thinking' })
  if (request.output_format || request.output_config?.format)
    return refuse('prewarm.combined', { field: 'output_config.format' })
  return forcesTool(request) ? refuse('prewarm.combined', { field: 'tool_choice' }) : undefined
}
