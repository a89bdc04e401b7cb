import { isJsonObject, type JsonObject } from '../../../wire/json.ts'
import { refuse, type Refusal } from '../refusal.ts'
import { checkOneOf, checkShape, type Shape } from './field.ts'

// The settings of a request, field by field: after these checks they match their types.

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max']

/** Units for the settings of a context edit. */
const EDIT_UNITS: { readonly [type: string]: { readonly [field: string]: readonly string[] } } = {
  clear_tool_uses_20250919: {
    trigger: ['input_tokens', 'tool_uses'],
    keep: ['tool_uses'],
    clear_at_least: ['input_tokens'],
  },
  clear_thinking_20251015: { keep: ['thinking_turns', 'all'] },
  compact_20260112: { trigger: ['input_tokens'] },
}

const SETTING_SHAPES: { readonly [name: string]: Shape } = {
  thinking: { type: 'string', display: 'string?', block_binding: 'object?' },
  tool_choice: { type: 'string', name: 'string?' },
  output_config: { effort: 'string?', format: 'object?', task_budget: 'object?' },
  context_management: { edits: 'list?' },
  compaction: { type: 'string', instructions: 'string?' },
  diagnostics: { previous_message_id: 'string?' },
  metadata: { user_id: 'string?' },
  thread: { type: 'string', previous_message_id: 'string?' },
}

const EDIT_SHAPE: Shape = {
  type: 'string',
  trigger: 'object?',
  clear_at_least: 'object?',
  exclude_tools: 'list?',
  instructions: 'string?',
  pause_after_compaction: 'boolean?',
}

export function checkSettings(body: JsonObject): Refusal | undefined {
  for (const [name, shape] of Object.entries(SETTING_SHAPES)) {
    const value = body[name]
    const refusal = isJsonObject(value) ? checkShape(value, shape, name) : undefined
    if (refusal) return refusal
  }
  return (
    checkValues(body) ??
    checkStopSequences(body['stop_sequences']) ??
    checkEditShapes(memberOf(body['context_management'], 'edits'))
  )
}

function checkValues(body: JsonObject): Refusal | undefined {
  const binding = memberOf(body['thinking'], 'block_binding')
  const choice = body['tool_choice']
  const isNameless = isJsonObject(choice) && choice['type'] === 'tool' && typeof choice['name'] !== 'string'
  return (
    checkOneOf(memberOf(body['output_config'], 'effort'), EFFORTS, 'output_config.effort') ??
    checkOneOf(body['service_tier'], ['auto', 'standard_only'], 'service_tier') ??
    checkOneOf(memberOf(body['compaction'], 'type'), ['summarize'], 'compaction.type') ??
    checkOneOf(memberOf(body['thread'], 'type'), ['create', 'continue'], 'thread.type') ??
    checkOneOf(
      memberOf(binding, 'prefix_mismatch_behavior'),
      ['error', 'drop_block'],
      'thinking.block_binding.prefix_mismatch_behavior',
    ) ??
    (isNameless ? refuse('request.required', { path: 'tool_choice.tool.name' }) : undefined)
  )
}

function checkStopSequences(sequences: unknown): Refusal | undefined {
  if (!Array.isArray(sequences)) return undefined
  return sequences.some((text: unknown) => typeof text !== 'string' || text.trim() === '')
    ? refuse('request.stop-sequence-blank')
    : undefined
}

function checkEditShapes(edits: unknown): Refusal | undefined {
  if (!Array.isArray(edits)) return undefined
  for (const [i, edit] of edits.entries()) {
    const path = `context_management.edits.${i}`
    if (!isJsonObject(edit)) return refuse('request.object', { path })
    const refusal =
      checkShape(edit, EDIT_SHAPE, path) ?? checkEditUnions(edit, path) ?? checkEditUnits(edit, path)
    if (refusal) return refusal
  }
  return undefined
}

/** `keep` is a setting or the word `all`; inputs to clear are a boolean or names. */
function checkEditUnions(edit: JsonObject, path: string): Refusal | undefined {
  const { keep, clear_tool_inputs: inputs, exclude_tools: excluded } = edit
  const isAll = keep === 'all' && edit['type'] === 'clear_thinking_20251015'
  if (keep !== undefined && !isAll && !isJsonObject(keep))
    return refuse('request.object', { path: `${path}.keep` })
  const wrongInputs =
    inputs !== undefined && inputs !== null && typeof inputs !== 'boolean' && !isNames(inputs)
  if (wrongInputs) return refuse('request.list', { path: `${path}.clear_tool_inputs` })
  return excluded === undefined || excluded === null || isNames(excluded)
    ? undefined
    : refuse('request.list', { path: `${path}.exclude_tools` })
}

function checkEditUnits(edit: JsonObject, path: string): Refusal | undefined {
  const { type } = edit
  if (typeof type !== 'string') return undefined
  for (const [field, units] of Object.entries(EDIT_UNITS[type] ?? {})) {
    const setting = edit[field]
    const refusal = isJsonObject(setting)
      ? checkOneOf(setting['type'] ?? '', units, `${path}.${type}.${field}.type`)
      : undefined
    if (refusal) return refusal
  }
  return undefined
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name: unknown) => typeof name === 'string')
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined
}
