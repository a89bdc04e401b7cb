import { fullAt, roomUntilFull } from '../../../situation/is-full.ts'
import type { CompactionCause } from '../when/decide.ts'

// How much a compaction may leave. One that frees little costs as much as any, and the next comes soon: such a one is not made.

/** Of the messages that it finds; where a user asked for it, less: whoever asks wants room. */
const LEFT_OF_MESSAGES = 0.6
const LEFT_WHEN_ASKED = 0.5
/** Of the threshold, all that the next request holds. */
const LEFT_OF_THRESHOLD = 0.6
/**
 * System and tools cannot be made smaller. Where they take more of the threshold than this, the share is of the room that they leave:
 * else nothing of the work could stay.
 */
const PREFIX_SHARE_MAX = 0.25
/** Of the messages: to free less is no gain, and within what an estimate may be wrong by. */
const GAIN_MIN = 0.05

export interface Found {
  readonly thresholds: Parameters<typeof fullAt>[0]
  readonly prefixTokens: number
  readonly sizeTokens: number
}

/** What a conversation may hold after a compaction of all of it, for the threshold's sake. */
export function targetFor({ thresholds, prefixTokens }: Omit<Found, 'sizeTokens'>): number {
  if (prefixTokens <= PREFIX_SHARE_MAX * fullAt(thresholds)) return strictTarget({ thresholds })
  return prefixTokens + LEFT_OF_THRESHOLD * roomUntilFull(thresholds, prefixTokens)
}

/** Where what is already written is to be the summary: whatever the prefix, a new one leaves less. */
export function strictTarget({ thresholds }: Pick<Found, 'thresholds'>): number {
  return LEFT_OF_THRESHOLD * fullAt(thresholds)
}

/** Messages that the user wants to stay: what is pinned, and where only a part is compacted, the other part. */
export interface Aside {
  readonly tokens: number
  /** Only a part is compacted, and how full the window is afterwards is the user's affair. */
  readonly isPart: boolean
}

/** What may be left of all. */
export function mostLeft(found: Found, cause: CompactionCause, { tokens, isPart }: Aside): number {
  const share = cause === 'asked' ? LEFT_WHEN_ASKED : LEFT_OF_MESSAGES
  const most = found.prefixTokens + tokens + share * messagesIn(found, { tokens })
  return isPart ? most : Math.min(most, targetFor(found))
}

/** What is to be compacted. */
export function messagesIn(
  { sizeTokens, prefixTokens }: Pick<Found, 'sizeTokens' | 'prefixTokens'>,
  { tokens }: Pick<Aside, 'tokens'>,
): number {
  return Math.max(0, sizeTokens - prefixTokens - tokens)
}

/** Whether it makes the conversation smaller, beyond doubt. */
export function isGain({ sizeTokens, prefixTokens }: Found, leftTokens: number): boolean {
  return leftTokens <= sizeTokens - GAIN_MIN * Math.max(0, sizeTokens - prefixTokens)
}
