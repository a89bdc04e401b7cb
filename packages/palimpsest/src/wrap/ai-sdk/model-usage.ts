import type { AiUsage } from './to-answer.ts'

/** Tokens of a call, as a language model reports them. */
export interface ModelUsage {
  readonly inputTokens: {
    readonly total: Tokens
    readonly noCache: Tokens
    readonly cacheRead: Tokens
    readonly cacheWrite: Tokens
  }
  readonly outputTokens: { readonly total: Tokens }
}

type Tokens = number | undefined

/** If the provider reports only the sum, all of it counts as uncached. */
export function usageOf({ inputTokens, outputTokens }: ModelUsage): AiUsage {
  const { total = 0, noCache, cacheRead: read = 0, cacheWrite: written = 0 } = inputTokens
  return {
    uncached: noCache ?? Math.max(0, total - read - written),
    read,
    written,
    output: outputTokens.total,
  }
}
