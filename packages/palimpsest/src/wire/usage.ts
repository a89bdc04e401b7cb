import { isJsonObject, type JsonObject } from './json.ts'

export interface CacheCreation {
  readonly ephemeral_5m_input_tokens: number
  readonly ephemeral_1h_input_tokens: number
}

export interface OutputTokensDetails {
  readonly thinking_tokens?: number
}

export interface ServerToolUsage {
  readonly web_search_requests?: number
  readonly web_fetch_requests?: number
}

/** Whether this request used a refusal's credit, and if not, why. */
export interface FallbackCredit {
  readonly status: JsonObject
}

/** One of several samplings that served a request. Their sum is billed; the last one of type `message` shows how full the window is. */
export interface IterationUsage {
  readonly type: string
  readonly model?: string | null
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_creation_input_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation?: CacheCreation | null
}

export interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_creation_input_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation?: CacheCreation | null
  readonly output_tokens_details?: OutputTokensDetails | null
  readonly server_tool_use?: ServerToolUsage | null
  readonly service_tier?: string | null
  readonly inference_geo?: string | null
  readonly speed?: string | null
  readonly iterations?: readonly IterationUsage[] | null
  readonly fallback_credit?: FallbackCredit | null
}

/** The part of a usage that shows the size of the prompt. With iterations, that is the last one of type `message`. */
export function contextUsage(usage: Usage): IterationUsage | Usage {
  return usage.iterations?.findLast((iteration) => iteration.type === 'message') ?? usage
}

/** Tokens of the prompt: a token that is read from the cache takes as much room as any other. */
export function promptTokens(usage: Usage): number {
  const size = contextUsage(usage)
  return size.input_tokens + (size.cache_creation_input_tokens ?? 0) + (size.cache_read_input_tokens ?? 0)
}

/** Tokens that the provider itself removed from a request, from an answer's `context_management` or a stored one. */
export function clearedTokens(applied: unknown): number {
  const edits: unknown = isJsonObject(applied) ? applied['applied_edits'] : undefined
  if (!Array.isArray(edits)) return 0
  return edits.reduce((sum: number, edit: unknown) => {
    const tokens = isJsonObject(edit) ? edit['cleared_input_tokens'] : undefined
    return sum + (typeof tokens === 'number' ? tokens : 0)
  }, 0)
}

/** Tokens of the prompt and the answer to it: the size of the conversation directly after the response. */
export function conversationTokens(usage: Usage): number {
  return promptTokens(usage) + contextUsage(usage).output_tokens
}

/** The billed samplings. The overall figures may omit some of them. */
export function samplingsOf(usage: Usage): readonly (Usage | IterationUsage)[] {
  return usage.iterations?.length ? usage.iterations : [usage]
}

/** Tokens of all samplings, by how they were served. */
export interface ServedTokens {
  readonly uncached: number
  readonly written: number
  readonly read: number
  readonly output: number
}

export function servedTokens(usage: Usage): ServedTokens {
  const sum = (tokensOf: (one: Usage | IterationUsage) => number | null | undefined): number =>
    samplingsOf(usage).reduce((tokens, one) => tokens + (tokensOf(one) ?? 0), 0)
  return {
    uncached: sum((one) => one.input_tokens),
    written: sum((one) => one.cache_creation_input_tokens),
    read: sum((one) => one.cache_read_input_tokens),
    output: sum((one) => one.output_tokens),
  }
}

/** Prompt tokens of all samplings. */
export function servedPromptTokens({ uncached, written, read }: ServedTokens): number {
  return uncached + written + read
}

export function isUsage(value: unknown): value is Usage {
  if (!isJsonObject(value)) return false
  return typeof value['input_tokens'] === 'number' && typeof value['output_tokens'] === 'number'
}
