import { CONTEXT_MANAGEMENT_BETA } from '../layers/2-micro-compaction/server-clearing.ts'
import { COMPACTION_BETA } from '../layers/4-compaction/summary/server-compaction.ts'
import type { LoopTool } from '../loop/tool.ts'
import type { EntryBody } from '../situation/session.ts'
import type { WindowReading } from '../situation/situation.ts'
import type { PrefixEntry } from '../transcript/entry.ts'
import { EXTENDED_WINDOW_BETA, type ModelFacts } from '../wire/model-facts.ts'

// What comes before the messages of every request. Rendered once per conversation; the order of tools and members is part of it.

/** Lets the cache keep the system prompt for an hour. */
const HOUR_BETA = 'extended-cache-ttl-2025-04-11'
/** With it, the API drops and reports thinking that belongs to another prefix, instead of refusing it: a safety net, not a plan. */
const BINDING_BETA = 'thinking-binding-controls-2026-08-01'
/** For models with a fixed thinking budget. */
const THINKING_BUDGET_TOKENS = 10_000

export function requestPrefix(options: {
  readonly model: string
  /** Asks for the extended window. */
  readonly extended?: boolean
  readonly facts: ModelFacts
  readonly system: string
  readonly tools: readonly Pick<LoopTool, 'name' | 'description' | 'inputSchema'>[]
  readonly reason: string
  /** What the provider should clear by itself. */
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
    // The API refuses a text block without text.
    system: JSON.stringify(system === '' ? [] : [{ type: 'text', text: system }]),
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

function thinkingParameter(facts: ModelFacts): string | undefined {
  const { thinking } = facts
  const binding = thinking.bindsPrefix ? { block_binding: { prefix_mismatch_behavior: 'drop_block' } } : {}
  if (thinking.modes.includes('adaptive')) return JSON.stringify({ type: 'adaptive', ...binding })
  const budget = thinkingBudget(facts)
  return budget === 0 ? undefined : JSON.stringify({ type: 'enabled', budget_tokens: budget })
}

/** Thinking tokens before an answer, for models with a fixed budget; otherwise 0. The answer limit must be larger. */
function thinkingBudget({ thinking: { modes } }: ModelFacts): number {
  return !modes.includes('adaptive') && modes.includes('enabled') ? THINKING_BUDGET_TOKENS : 0
}

/** Room for one answer; a longer one is continued in another request. */
const OUTPUT_TOKENS_MAX = 32_000
/** Share of the window, so that the question, the answer and a summary fit together. */
const OUTPUT_SHARE_MAX = 1 / 3
/** Room for text after the thinking. */
const SAID_TOKENS_MIN = 1_024

/** The longest answer to ask for, in tokens. */
export function outputTokensFor({
  model: { facts },
  window,
}: Pick<WindowReading, 'model' | 'window'>): number {
  const most = Math.min(OUTPUT_TOKENS_MAX, facts.maxOutput, Math.floor(OUTPUT_SHARE_MAX * window.working))
  return Math.max(most, thinkingBudget(facts) + SAID_TOKENS_MIN)
}
