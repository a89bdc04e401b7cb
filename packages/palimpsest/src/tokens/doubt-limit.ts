import type { Overflow } from './overflow.ts'

// Whether a limit that an error names can be true. Errors are free text from all kinds of servers: a wrong number would otherwise shrink a
// model's window in every later session.

/** A smaller number is no window but a misread error. */
export const LIMIT_TOKENS_MIN = 1_000
/** Our own count is off by at most this factor: a request that is further from a limit was not refused because of it. */
const COUNT_ERROR_MAX = 2

export interface Refused {
  /** Our own count of the refused request. */
  readonly sentTokens: number
  /** The requested maximum length of the answer, which some servers include. */
  readonly outputTokens: number
  /** The largest prompt that the same model answered here, as far as known. */
  readonly answeredTokens: number
}

/** Why a limit is not believed. */
export type LimitDoubt =
  /** No model has so small a window. */
  | 'tiny'
  /** A larger request was answered. */
  | 'answered'
  /** The refused request was not over it. */
  | 'not-over'
  /** System prompt and tools alone would not fit, so no request would be possible. */
  | 'no-room'

/** The named limit, in tokens. If only the excess is named, it is computed from our own count. */
export function limitNamed(
  { limit, excess }: Pick<Overflow, 'limit' | 'excess'>,
  sentTokens: number,
): number | undefined {
  if (limit !== undefined) return limit
  return excess === undefined ? undefined : Math.floor(sentTokens - excess)
}

/** Undefined if the limit is believable. `hasRoom`: system prompt and tools leave room for a conversation. */
export function doubtLimit(limit: number, refused: Refused, hasRoom: boolean): LimitDoubt | undefined {
  if (limit < LIMIT_TOKENS_MIN) return 'tiny'
  if (limit <= refused.answeredTokens) return 'answered'
  if (COUNT_ERROR_MAX * refused.sentTokens + refused.outputTokens < limit) return 'not-over'
  return hasRoom ? undefined : 'no-room'
}
