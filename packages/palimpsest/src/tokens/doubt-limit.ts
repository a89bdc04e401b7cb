import type { Overflow } from './overflow.ts'

// Whether a limit that an error names can be one. Errors are words, and servers of all makes write them: one that names a wrong number would
// otherwise shrink the window of a model for every session to come.

/** Less is no window but a misread error. */
export const LIMIT_TOKENS_MIN = 1_000
/** Our own count is right to within this: what is further from a limit was not refused for it. */
const COUNT_ERROR_MAX = 2

export interface Refused {
  /** Our own count of what was refused. */
  readonly sentTokens: number
  /** What was asked for as the longest answer: some servers count it in. */
  readonly outputTokens: number
  /** The most that was answered by the same model here, as far as that is known. */
  readonly answeredTokens: number
}

/** Why a limit is not believed. */
export type LimitDoubt =
  /** No model is so small. */
  | 'tiny'
  /** More was answered. */
  | 'answered'
  /** What was refused was not over it. */
  | 'not-over'
  /** System and tools alone would not fit: with it nothing could be asked at all. */
  | 'no-room'

/** The limit, in tokens. Where only the excess is named, our own count gives the rest. */
export function limitNamed(
  { limit, excess }: Pick<Overflow, 'limit' | 'excess'>,
  sentTokens: number,
): number | undefined {
  if (limit !== undefined) return limit
  return excess === undefined ? undefined : Math.floor(sentTokens - excess)
}

/** Undefined where the limit can be believed. `hasRoom`: beside system and tools there is room for a conversation. */
export function doubtLimit(limit: number, refused: Refused, hasRoom: boolean): LimitDoubt | undefined {
  if (limit < LIMIT_TOKENS_MIN) return 'tiny'
  if (limit <= refused.answeredTokens) return 'answered'
  if (COUNT_ERROR_MAX * refused.sentTokens + refused.outputTokens < limit) return 'not-over'
  return hasRoom ? undefined : 'no-room'
}
