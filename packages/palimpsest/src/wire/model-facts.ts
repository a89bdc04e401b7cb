import { CLAUDE_FACTS, unknownClaudeFacts } from './claude-facts.ts'
import { unknownForeignFacts } from './foreign-facts.ts'
import { GEMINI_FACTS } from './gemini-facts.ts'
import { GPT_FACTS } from './gpt-facts.ts'
import type { ModelFacts } from './model.ts'

// What is published about a model. Facts only: no estimate, no setting, no learned limit (those are added in `tokens/models`). The
// simulator judges by the same facts, so both depend on this file.

export type {
  ModelCapabilities,
  ModelFacts,
  PriceName,
  PriceTier,
  ThinkingFacts,
  ThinkingMode,
  TokenizerFamily,
  Vendor,
} from './model.ts'
export { unknownClaudeFacts } from './claude-facts.ts'

export const MODEL_FACTS: readonly ModelFacts[] = [...CLAUDE_FACTS, ...GPT_FACTS, ...GEMINI_FACTS]

const BY_ID = new Map(MODEL_FACTS.map((facts) => [facts.id, facts]))

const EXTENDED_SUFFIX = '[1m]'
/** Opens the extended window of a model that has one. */
export const EXTENDED_WINDOW_BETA = 'context-1m-2025-08-07'

/** Facts of a model by its id, dated id or platform id; undefined if the table does not have it. */
export function findModelFacts(id: string): ModelFacts | undefined {
  return BY_ID.get(id) ?? BY_ID.get(toTableId(id))
}

/** What to assume about a model that the table does not have. */
export function unknownModelFacts(id: string): ModelFacts {
  return isClaudeId(id) ? unknownClaudeFacts(id) : unknownForeignFacts(id)
}

export function isClaudeId(id: string): boolean {
  return toTableId(id).startsWith('claude-')
}

/** A model as a user names it. The suffix asks for the extended window; it is not part of the id and is never sent. */
export function parseModelName(name: string): { readonly id: string; readonly extended: boolean } {
  const extended = name.toLowerCase().endsWith(EXTENDED_SUFFIX)
  return { id: extended ? name.slice(0, -EXTENDED_SUFFIX.length) : name, extended }
}

/** The name that a user would give a model that is requested with these betas. */
export function toModelName(id: string, betas: readonly string[]): string {
  return betas.includes(EXTENDED_WINDOW_BETA) ? `${id}${EXTENDED_SUFFIX}` : id
}

/** `us.anthropic.claude-opus-4-5-20251101-v1:0`, `anthropic/claude-opus-4.5` and `claude-opus-4-5@20251101` are one model. */
function toTableId(id: string): string {
  const bare = id
    .toLowerCase()
    .replace(/^(?:[a-z]+\.)?(?:anthropic|openai|google)[./]/, '')
    .replace(/-v\d+(?::\d+)?$/, '')
    .replace(/[-@]20\d{6}$/, '')
  return bare.startsWith('claude-') ? bare.replace(/(\d)\.(\d)/, '$1-$2') : bare
}
