import type { ProviderFailure } from '../errors.ts'
import type { Thresholds } from '../tokens/thresholds.ts'

/** What a refusal taught: from now on these count. */
export interface LearnedLimit {
  readonly thresholds: Thresholds
  /** Of the window: what is kept, brought back and stored is measured by it. */
  readonly scale: number
  readonly effectiveTokens: number
  /** All that the model accepts. */
  readonly windowTokens: number
  readonly notice: string
}

/** Undefined where nothing new is learned. `sentTokens` is our own count of what was refused. */
export type LearnLimit = (failure: ProviderFailure, sentTokens: number) => Promise<LearnedLimit | undefined>
