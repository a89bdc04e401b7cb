import type { ProviderFailure } from '../errors.ts'
import type { LimitDoubt, Refused } from '../tokens/doubt-limit.ts'
import type { Thresholds } from '../situation/thresholds.ts'

/** What a refusal or an answer taught about the window. These values count from now on. */
export interface LearnedLimit {
  readonly thresholds: Thresholds
  /** Size of the window as a factor: it scales what is kept, restored and stored. */
  readonly scale: number
  readonly effectiveTokens: number
  /** Everything that the model accepts. */
  readonly windowTokens: number
  readonly notice: string
}

export interface Refusal extends Refused {
  readonly failure: Extract<ProviderFailure, { kind: 'context-overflow' }>
  /** In the provider's words. */
  readonly said: string
  /** Tokens before the messages, which must always fit. */
  readonly prefixTokens: number
  /** The same limit was named before, and the refused request was sent again unchanged. */
  readonly isRepeated: boolean
}

export type LimitVerdict =
  | { readonly kind: 'learned'; readonly learned: LearnedLimit }
  /** An error names this limit, and it cannot be true. */
  | { readonly kind: 'doubted'; readonly limit: number; readonly why: LimitDoubt }
  /** The error names no limit, or none that is new. */
  | { readonly kind: 'nothing' }

/** Keeps what is learned about the window of one model at one endpoint. */
export interface LimitKeeper {
  readonly refused: (refusal: Refusal) => Promise<LimitVerdict>
  /** A request of this size was answered: a learned limit that rules this out is forgotten. */
  readonly answered: (promptTokens: number) => Promise<LearnedLimit | undefined>
}
