import { fullAt, roomUntilFull } from '../../../situation/is-full.ts'
import type { CompactionCause } from '../when/decide.ts'

// How much a compaction may leave. One that frees little costs as much as any, and the next one comes soon, so it is not made.

/** Share of the messages; less if a user asked, since then they want room. */
const LEFT_OF_MESSAGES = 0.6
const LEFT_WHEN_ASKED = 0.5
/** Share of the threshold, for everything in the next request. */
const LEFT_OF_THRESHOLD = 0.6
/**
 * System and tools cannot be made smaller. If they take more of the threshold than this, the share is of the room that they leave:
 * otherwise nothing of the work could stay.
 */
const PREFIX_SHARE_MAX = 0.25
/** Share of the messages: freeing less is no gain, and within the error of the estimate. */
const GAIN_MIN = 0.05

export interface Found {
  readonly thresholds: Parameters<typeof fullAt>[0]
  readonly prefixTokens: number
  readonly sizeTokens: number
}

/** Most that a conversation may hold after a full compaction, so that it stays well below the threshold. */
export function targetFor({ thresholds, prefixTokens }: Omit<Found, 'sizeTokens'>): number {
  if (prefixTokens <= PREFIX_SHARE_MAX * fullAt(thresholds)) return strictTarget({ thresholds })
  return prefixTokens + LEFT_OF_THRESHOLD * roomUntilFull(thresholds, prefixTokens)
}

/** If the summary would be text that is already written, whatever the prefix: a new one leaves less. */
export function strictTarget({ thresholds }: Pick<Found, 'thresholds'>): number {
  return LEFT_OF_THRESHOLD * fullAt(thresholds)
}

/** Messages that the user wants to stay: everything pinned, and if only a part is compacted, the other part. */
export interface Aside {
  readonly tokens: number
  /** Only a part is compacted, so how full the window is afterwards is up to the user. */
  readonly isPart: boolean
}

/** Most that may be left in total. */
export function mostLeft(found: Found, cause: CompactionCause, { tokens, isPart }: Aside): number {
  const share = cause === 'asked' ? LEFT_WHEN_ASKED : LEFT_OF_MESSAGES
  const most = found.prefixTokens + tokens + share * messagesIn(found, { tokens })
  return isPart ? most : Math.min(most, targetFor(found))
}

/** Size of what is to be compacted. */
export function messagesIn(
  { sizeTokens, prefixTokens }: Pick<Found, 'sizeTokens' | 'prefixTokens'>,
  { tokens }: Pick<Aside, 'tokens'>,
): number {
  return Math.max(0, sizeTokens - prefixTokens - tokens)
}

/** Whether the conversation clearly becomes smaller. */
export function isGain({ sizeTokens, prefixTokens }: Found, leftTokens: number): boolean {
  return leftTokens <= sizeTokens - GAIN_MIN * Math.max(0, sizeTokens - prefixTokens)
}
