// What is published about a model. Facts only: no estimate, no setting, no learned limit (those overlay it in `tokens/models`).
// The simulator judges by the same facts, so they stand below both.

/** Prices in US dollars per million tokens, for requests whose input is at most `upToTokens` (the last tier has no bound). */
export interface PriceTier {
  readonly upToTokens?: number
  readonly input: number
  readonly output: number
  readonly write5m: number
  readonly write1h: number
  readonly read: number
}

export interface ModelFacts {
  readonly id: string
  readonly contextWindow: number
  /** Where input alone is bounded below the window. */
  readonly maxInput?: number
  readonly maxOutput: number
  readonly prices: readonly PriceTier[]
  /** Shorter prefixes are silently not cached. */
  readonly cacheMinimumTokens: number
  readonly thinking: ThinkingFacts
  readonly capabilities: ModelCapabilities
}

export interface ThinkingFacts {
  readonly modes: readonly ('adaptive' | 'enabled' | 'disabled' | 'between_tools')[]
  /** A block is accepted only behind the very prefix it was made under. */
  readonly bindsPrefix: boolean
  /** Thinking of earlier turns stays in the prompt (else the provider strips it, and it is not counted). */
  readonly keptAcrossTurns: boolean
  /** Other models whose blocks this one reads; its own it always reads. */
  readonly readsFrom: readonly string[]
}

export interface ModelCapabilities {
  readonly extendedWindow?: number
  readonly onDemandCompaction: boolean
  readonly thresholdCompaction: boolean
  readonly clearToolUses: boolean
  readonly systemMessages: boolean
  /** Input plus `max_tokens` may exceed the window; the answer is then cut with `model_context_window_exceeded`. */
  readonly overlongOutputAccepted: boolean
}
