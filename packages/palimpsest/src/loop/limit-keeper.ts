import type { ProviderFailure } from '../errors.ts'
import type { LimitDoubt, Refused } from '../tokens/doubt-limit.ts'
import type { Thresholds } from '../situation/thresholds.ts'

/** What a refusal, or an answer, taught of the window: from now on these count. */
export interface LearnedLimit {
  readonly thresholds: Thresholds
  /** Of the window: what is kept, brought back and stored is measured by it. */
  readonly scale: number
  readonly effectiveTokens: number
  /** All that the model accepts. */
  readonly windowTokens: number
  readonly notice: string
}

export interface Refusal extends Refused {
  readonly failure: Extract<ProviderFailure, { kind: 'context-overflow' }>
  /** In the provider's words. */
  readonly said: string
  /** What stands before the messages, and must fit whatever happens. */
  readonly prefixTokens: number
  /** The same limit was named before, and what was refused then was asked again as it is. */
  readonly isRepeated: boolean
}

export type LimitVerdict =
  | { readonly kind: 'learned'; readonly learned: LearnedLimit }
  /** It is named, and cannot be. */
  | { readonly kind: 'doubted'; readonly limit: number; readonly why: LimitDoubt }
  /** Nothing is named, or nothing that was not known. */
  | { readonly kind: 'nothing' }

/** Keeps what is learned of the window of one model at one endpoint. */
export interface LimitKeeper {
  readonly refused: (refusal: Refusal) => Promise<LimitVerdict>
  /** A request of this size was answered: a limit that says it cannot be is forgotten. */
  readonly answered: (promptTokens: number) => Promise<LearnedLimit | undefined>
}
