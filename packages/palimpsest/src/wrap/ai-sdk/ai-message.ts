// Messages as the AI SDK has them: of a prompt (`LanguageModelV4Prompt`) and of its users (`ModelMessage`), which are alike in all that is read here.

export interface AiMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly object[]
  readonly providerOptions?: AiOptions | undefined
}

export interface AiOptions {
  readonly [provider: string]: { readonly [option: string]: unknown }
}

/** What is read of a part. Every part has a type; the rest depends on it. */
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

/** Members that are read have the types above, whichever version wrote them: others are carried, never read. */
export function isPart(value: unknown): value is AiPart {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** Under this name our own remarks stand in `providerOptions`; providers ignore names that are not theirs. */
export const OWN_OPTIONS = 'palimpsest'
