import { hasExpired } from '../layers/2-micro-compaction/plan.ts'
import type { CompactionPolicy } from '../layers/4-compaction/policy.ts'
import type { View } from '../transcript/view.ts'

export interface DueMoment {
  readonly now: number
  /** Size of the next request. */
  readonly sizeTokens: number
  /** Tokens of what stands before the messages. */
  readonly prefixTokens: number
  readonly autoTokens: number
  /** Lifetime bought for the messages; unknown is taken for an hour. */
  readonly lifetime: '5m' | '1h' | undefined
}

const LIFETIME_MS = { '5m': 300_000, '1h': 3_600_000 } as const

/**
 * `full`: the window is. `cold`: the cache has expired, so that the messages are written anew whatever is done, and there are many:
 * what a compaction costs most, the rewriting of what it keeps, costs nothing now.
 */
export function compactionDue(
  view: View,
  { now, sizeTokens, prefixTokens, autoTokens, lifetime = '1h' }: DueMoment,
  { coldShare }: CompactionPolicy,
): 'full' | 'cold' | undefined {
  if (sizeTokens >= autoTokens) return 'full'
  const isLarge = sizeTokens - prefixTokens >= coldShare * (autoTokens - prefixTokens)
  return isLarge && hasExpired(view, now, LIFETIME_MS[lifetime]) ? 'cold' : undefined
}
