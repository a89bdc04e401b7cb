import { isOf } from '../../facts/tool-natures.ts'
import type { JsonText } from '../../wire/json.ts'
import type { ContextEdit, ContextManagement } from '../../wire/request.ts'
import type { ModelFacts } from '../../wire/model-facts.ts'
import { isClearableTool } from './clearable-tools.ts'

// Clearing on the server: the request says when and what, the provider does it again for every request, and the history is sent in full.
// Not on models that bind thinking. While it is on, our own clearing rests: each of the two would break what the other had cached.

export const CONTEXT_MANAGEMENT_BETA = 'context-management-2025-06-27'

/** Input tokens at which the provider begins, unless the warning threshold is lower. */
const TRIGGER_TOKENS = 180_000
/** A small clearing must not break the cache. */
const CLEAR_TOKENS_MIN = 20_000
const KEEP_USES = 5
/** After an hour without a request nothing is cached, and only the newest thinking is worth its tokens. */
const IDLE_MS = 3_600_000
const IDLE_THINKING_TURNS = 1

/** Tools whose bulk is in their input, not in their result. */
const BULKY_INPUTS = ['edit', 'patch', 'write', 'notebook'] as const

export interface ServerClearing {
  readonly facts: ModelFacts
  readonly tools: readonly string[]
  /** Thinking is requested, and comes unredacted. */
  readonly thinks: boolean
  readonly warningTokens: number
  /** Below 1 in a small window. */
  readonly scale: number
  /** The user's settings: where the provider begins, and the size it should bring the prompt down to. */
  readonly maxInputTokens?: number | undefined
  readonly targetInputTokens?: number | undefined
  /** Time since the last answer; absent at the start. */
  readonly idleMs?: number | undefined
}

/** The member `context_management` of the request; undefined if the model does not support it. */
export function serverClearing(options: ServerClearing): JsonText | undefined {
  const { facts, thinks } = options
  const { clearToolUses, clearThinking } = facts.capabilities
  if (facts.thinking.bindsPrefix || !clearToolUses) return undefined
  const edits = [...(thinks && clearThinking ? [thinkingEdit(options)] : []), usesEdit(options)]
  return JSON.stringify({ edits } satisfies ContextManagement)
}

/** Whether a conversation is cleared on the server; its prefix says so as long as the conversation lasts. */
export function clearsOnServer(parameters: { readonly [name: string]: JsonText } | undefined): boolean {
  return parameters?.['context_management']?.includes('"clear_tool_uses_') ?? false
}

/** Must come first. The provider refuses a value of 0. */
function thinkingEdit({ idleMs = 0 }: ServerClearing): ContextEdit {
  const keep =
    idleMs > IDLE_MS
      ? ({ type: 'thinking_turns', value: IDLE_THINKING_TURNS } as const)
      : ({ type: 'all' } as const)
  return { type: 'clear_thinking_20251015', keep }
}

function usesEdit(options: ServerClearing): ContextEdit {
  const { tools, warningTokens, scale } = options
  const trigger = options.maxInputTokens ?? Math.min(TRIGGER_TOKENS, warningTokens)
  const least = Math.round(CLEAR_TOKENS_MIN * scale)
  const wanted = options.targetInputTokens === undefined ? least : trigger - options.targetInputTokens
  return {
    type: 'clear_tool_uses_20250919',
    trigger: { type: 'input_tokens', value: trigger },
    keep: { type: 'tool_uses', value: KEEP_USES },
    clear_at_least: { type: 'input_tokens', value: Math.max(least, wanted) },
    exclude_tools: tools.filter((name) => !isClearableTool(name)),
    clear_tool_inputs: tools.filter((name) => isOf(name, ...BULKY_INPUTS)),
  }
}
