import type { ModelCapabilities, ModelFacts, ThinkingFacts } from './model.ts'

/** A model of another protocol: no thinking block of the Messages API ever reaches it. */
export const FOREIGN_THINKING: ThinkingFacts = {
  modes: [],
  bindsPrefix: false,
  bindsAccount: false,
  keptAcrossTurns: false,
  readsFrom: [],
}

export const FOREIGN_CAPABILITIES: ModelCapabilities = {
  onDemandCompaction: false,
  thresholdCompaction: false,
  clearToolUses: false,
  clearThinking: false,
  systemMessages: false,
  overlongOutputAccepted: false,
}

const WINDOW_GUESS = 200_000
const OUTPUT_GUESS = 64_000
const CACHE_MINIMUM_GUESS = 1_024

/** What to assume about a model of which we only know that it is not Claude. It has no price. */
export function unknownForeignFacts(id: string): ModelFacts {
  return {
    id,
    vendor: 'other',
    // The unit of the estimate itself, so that nothing is scaled before something is known.
    tokenizer: 'claude-4',
    contextWindow: WINDOW_GUESS,
    maxOutput: OUTPUT_GUESS,
    prices: [],
    cacheMinimumTokens: CACHE_MINIMUM_GUESS,
    cacheMinimumKnown: false,
    thinking: FOREIGN_THINKING,
    capabilities: FOREIGN_CAPABILITIES,
  }
}
