// Messages as the AI SDK has them, in a prompt (`LanguageModelV4Prompt`) and for its users (`ModelMessage`). The two are alike in
// everything that is read here.

export interface AiMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly object[]
  readonly providerOptions?: AiOptions | undefined
}

export interface AiOptions {
  readonly [provider: string]: { readonly [option: string]: unknown }
}

/** What we read of a part. Every part has a type; the rest depends on it. */
export interface AiPart {
  readonly type: string
  readonly text?: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly input?: unknown
  readonly output?: unknown
  readonly providerExecuted?: boolean
  readonly providerOptions?: AiOptions
}

/** The members that we read have the types above, whichever version wrote them; others are passed on, never read. */
export function isPart(value: unknown): value is AiPart {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** Our own marks are under this name in `providerOptions`; providers ignore names that are not theirs. */
export const OWN_OPTIONS = 'palimpsest'
