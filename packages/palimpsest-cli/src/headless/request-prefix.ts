import { COMPACTION_BETA, CONTEXT_MANAGEMENT_BETA, type EntryBody } from 'palimpsest/engine'
import type { LoopTool } from 'palimpsest/loop'
import type { PrefixEntry } from 'palimpsest/transcript'
import { EXTENDED_WINDOW_BETA, type ModelFacts } from 'palimpsest/wire'

// What stands before the messages of every request. Rendered once per conversation; the order of tools and members is part of it.

/** Lets the system prompt be kept for an hour. */
const HOUR_BETA = 'extended-cache-ttl-2025-04-11'
/** With it, thinking that is bound elsewhere is dropped and reported instead of refused: a net, not a plan. */
const BINDING_BETA = 'thinking-binding-controls-2026-08-01'
/** For models whose thinking has a fixed budget. */
const THINKING_BUDGET_TOKENS = 10_000

export function requestPrefix(options: {
  readonly model: string
  /** The extended window is wanted. */
  readonly extended?: boolean
  readonly facts: ModelFacts
  readonly system: string
  readonly tools: readonly LoopTool[]
  readonly reason: string
  /** What the provider is to clear by itself. */
  readonly contextManagement?: string | undefined
}): EntryBody<PrefixEntry> {
  const { model, extended, facts, system, tools, reason, contextManagement } = options
  const { bindsPrefix } = facts.thinking
  const thinking = thinkingParameter(facts)
  return {
    kind: 'prefix',
    model,
    betas: [
      HOUR_BETA,
      ...(extended ? [EXTENDED_WINDOW_BETA] : []),
      ...(bindsPrefix ? [BINDING_BETA] : []),
      ...(bindsPrefix && facts.capabilities.onDemandCompaction ? [COMPACTION_BETA] : []),
      ...(contextManagement === undefined ? [] : [CONTEXT_MANAGEMENT_BETA]),
    ],
    system: JSON.stringify([{ type: 'text', text: system }]),
    tools: JSON.stringify(
      tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    ),
    parameters: {
      ...(thinking === undefined ? {} : { thinking }),
      ...(contextManagement === undefined ? {} : { context_management: contextManagement }),
    },
    reason,
  }
}

function thinkingParameter({ thinking }: ModelFacts): string | undefined {
  const binding = thinking.bindsPrefix ? { block_binding: { prefix_mismatch_behavior: 'drop_block' } } : {}
  if (thinking.modes.includes('adaptive')) return JSON.stringify({ type: 'adaptive', ...binding })
  if (thinking.modes.includes('enabled'))
    return JSON.stringify({ type: 'enabled', budget_tokens: THINKING_BUDGET_TOKENS })
  return undefined
}
