import type { JsonObject } from '../../wire/json.ts'
import { MODEL_FACTS, type ModelFacts } from '../../wire/model-facts.ts'

// `GET /v1/models`: the table of facts in the API's form.

const PAGE_DEFAULT = 20
const PAGE_MAX = 1_000
/** The table has no dates; every model gets this one. */
const CREATED_AT = '2026-01-01T00:00:00Z'

export function listModels(own: readonly ModelFacts[], query: URLSearchParams): JsonObject {
  const all = [...own, ...MODEL_FACTS.filter(({ vendor }) => vendor === 'anthropic')]
  const after = query.get('after_id')
  const before = query.get('before_id')
  const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  const found = before === null ? -1 : all.findIndex(({ id }) => id === before)
  const end = found < 0 ? all.length : found
  const limit = Math.min(PAGE_MAX, Math.max(1, Number(query.get('limit')) || PAGE_DEFAULT))
  const page = all.slice(start, end).slice(0, limit)
  return {
    data: page.map(modelInfo),
    has_more: start + page.length < end,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  }
}

export function modelInfo(facts: ModelFacts): JsonObject {
  const { capabilities, thinking } = facts
  const supports = (mode: ModelFacts['thinking']['modes'][number]): JsonObject => ({
    supported: thinking.modes.includes(mode),
  })
  return {
    id: facts.id,
    type: 'model',
    display_name: displayName(facts.id),
    created_at: CREATED_AT,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: /^claude-(haiku|sonnet|opus|fable|mythos)/.exec(facts.id)?.[1] ?? null,
    max_input_tokens: facts.maxInput ?? facts.contextWindow,
    max_tokens: facts.maxOutput,
    capabilities: {
      batch: { supported: false },
      citations: { supported: false },
      code_execution: { supported: false },
      context_management: {
        supported: capabilities.clearToolUses || capabilities.thresholdCompaction,
        clear_tool_uses_20250919: { supported: capabilities.clearToolUses },
        clear_thinking_20251015: { supported: capabilities.clearThinking },
        compact_20260112: { supported: capabilities.thresholdCompaction },
      },
      effort: {
        supported: true,
        low: { supported: true },
        medium: { supported: true },
        high: { supported: true },
        xhigh: { supported: true },
        max: { supported: true },
      },
      image_input: { supported: true },
      pdf_input: { supported: true },
      server_tools: { supported: false },
      structured_outputs: { supported: false },
      thinking: {
        supported: true,
        types: {
          adaptive: supports('adaptive'),
          enabled: supports('enabled'),
          disabled: supports('disabled'),
          between_tools: supports('between_tools'),
        },
      },
    },
  }
}

/** `claude-opus-5-5` is Claude Opus 5.5. */
function displayName(id: string): string {
  return id
    .replace(/(\d)-(\d)/g, '$1.$2')
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
}
