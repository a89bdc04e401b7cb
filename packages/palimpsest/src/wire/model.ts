// The shape of what is published about a model.

export type Vendor = 'anthropic' | 'openai' | 'google' | 'other'

/** The vocabulary that a model counts with. Claude 4.7 and later count about 30% more tokens for the same text than earlier versions. */
export type TokenizerFamily = 'claude-4' | 'claude-4-7' | 'o200k' | 'gemini'

export type PriceName = 'input' | 'output' | 'write5m' | 'write1h' | 'read'

/** Prices in US dollars per million tokens, for requests with at most `upToTokens` of input (the last tier has no limit). */
export interface PriceTier {
  readonly upToTokens?: number
  readonly input: number
  readonly output: number
  readonly write5m: number
  readonly write1h: number
  readonly read: number
  /** Prices that no source states: derived from the others by the vendor's usual ratio, or taken from the closest sibling. */
  readonly assumed?: readonly PriceName[] | undefined
}

export interface ModelFacts {
  readonly id: string
  readonly vendor: Vendor
  readonly tokenizer: TokenizerFamily
  readonly contextWindow: number
  /** Present if the input alone has a limit below the window. */
  readonly maxInput?: number
  readonly maxOutput: number
  readonly prices: readonly PriceTier[]
  /** Shorter prefixes are silently not cached. */
  readonly cacheMinimumTokens: number
  /** False: no source states the minimum, and `cacheMinimumTokens` is a cautious guess. */
  readonly cacheMinimumKnown: boolean
  readonly thinking: ThinkingFacts
  readonly capabilities: ModelCapabilities
}

export type ThinkingMode = 'adaptive' | 'enabled' | 'disabled' | 'between_tools'

export interface ThinkingFacts {
  /** Accepted values of `thinking.type`; others are refused. */
  readonly modes: readonly ThinkingMode[]
  /** A block is accepted only after exactly the prefix that it was made under. */
  readonly bindsPrefix: boolean
  /** A block is accepted only from the account that it was made for. */
  readonly bindsAccount: boolean
  /** Thinking of earlier turns stays in the prompt. False: the provider strips it, and it is not counted. */
  readonly keptAcrossTurns: boolean
  /** Other models whose blocks this one reads, in addition to its own. */
  readonly readsFrom: readonly string[]
}

export interface ModelCapabilities {
  /** The window that the suffix `[1m]` or the beta header opens, if it differs from the plain one. */
  readonly extendedWindow?: number
  readonly onDemandCompaction: boolean
  readonly thresholdCompaction: boolean
  readonly clearToolUses: boolean
  readonly clearThinking: boolean
  readonly systemMessages: boolean
  /** Input plus `max_tokens` may exceed the window; the answer is then cut with `model_context_window_exceeded`. */
  readonly overlongOutputAccepted: boolean
}
