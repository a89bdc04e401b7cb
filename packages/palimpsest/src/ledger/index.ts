// palimpsest/ledger: exact accounting of the provider's prompt cache. The rules are in docs/cache-accounting.md.

import '../require-runtime.ts'

export {
  BREAKPOINTS_MAX,
  chargeRequest,
  createCache,
  LOOKBACK_POSITIONS,
  publishWrites,
  quoteRequest,
  TTL_MS,
} from './cache.ts'
export type { Breakpoint, Cache, CacheCharge, CacheEntry, CacheRequest, CacheWrite, Ttl } from './cache.ts'
export { explainCharge } from './explain.ts'
export type { CacheExplanation } from './explain.ts'
export { costOfUsage, findTier, inputTokens, priceOf } from './prices.ts'
export type { BilledTokens } from './prices.ts'
export { commonPositions, layPrompt } from './prompt.ts'
export type { Level, Prompt, PromptKey, PromptPart, PromptPosition } from './prompt.ts'
export { partsOf, promptKey, promptOf } from './request-prompt.ts'
export type { RequestParts, RequestPrompt, SizeOf } from './request-prompt.ts'
export { createCostOf } from './cost-of.ts'
export type { PaidAnswer } from './cost-of.ts'
