import type { View } from '../../../../transcript/view.ts'
import { FALLBACK_SHARE, planDrop } from '../drop-oldest.ts'
import { firstNewRound, roundsOf } from '../round.ts'
import { NO_ACTIONS, type Actions, type Moment, type Strategy, type StrategySettings } from '../strategy.ts'
import type { PeerSight } from './peer-sight.ts'
import { replaceBySummary, summaryTokens, type SummaryCall } from './replace-by-summary.ts'
import { fullAt } from '../../../../situation/is-full.ts'

// What the peers have in common: something cheap before every request and, at a size of their own, a summary that replaces everything
// they do not keep. docs/peers/README.md says what is the same for all of them and what is left out.

export interface PeerPolicy {
  readonly name: string
  /** Tokens at which it compacts, as published. */
  readonly triggerTokens: (settings: StrategySettings) => number
  /** The size that it compares with the trigger. Default: the whole request. */
  readonly count?: (view: View, moment: Moment) => number
  /** Rounds that stay, by index. What no request has carried yet always stays. */
  readonly keeps: (seen: PeerSight) => readonly number[]
  readonly call: SummaryCall
  /** Runs before every request, without a model. */
  readonly reduce?: (view: View, moment: Moment, settings: StrategySettings) => Actions
}

/** Least room between a hidden prompt and the trigger, as a share of the window; with less, a peer would compact at every step. */
const ROOM_SHARE_MIN = 0.15

/** The most of the room below the trigger that may stay; with more, it would compact again at once. */
const KEPT_SHARE_MAX = 0.8

/** Share of the window from which we expect a refusal, because sizes are estimates; every peer compacts then. */
const OVERFLOW_SHARE = 0.97

export function createPeer(policy: PeerPolicy): Strategy {
  return {
    name: policy.name,
    create: (settings) => ({
      before(view, moment) {
        const reduced = policy.reduce?.(view, moment, settings) ?? NO_ACTIONS
        return reduced.entries.length > 0 ? reduced : planCompaction(view, moment, settings, policy)
      },
    }),
  }
}

function planCompaction(view: View, moment: Moment, settings: StrategySettings, policy: PeerPolicy): Actions {
  const trigger = triggerFor(policy.triggerTokens(settings), moment, settings)
  const overflows = moment.sizeTokens >= settings.windowTokens * OVERFLOW_SHARE
  const counted = policy.count?.(view, moment) ?? moment.sizeTokens
  if (counted < trigger && !overflows) return NO_ACTIONS
  const rounds = roundsOf(view)
  const kept = withinRoom({ view, rounds, moment, settings }, policy, trigger)
  const compacted = replaceBySummary({ view, rounds, moment, settings }, kept, policy.call)
  if (compacted) return compacted
  return overflows ? planDrop(view, moment, settings, FALLBACK_SHARE) : NO_ACTIONS
}

function triggerFor(
  published: number,
  { hiddenTokens }: Moment,
  { windowTokens, thresholds }: StrategySettings,
): number {
  return Math.max(published, Math.min(fullAt(thresholds), hiddenTokens + windowTokens * ROOM_SHARE_MIN))
}

/** The newest of the rounds that the peer keeps, as many as there is room for. */
function withinRoom(seen: PeerSight, policy: PeerPolicy, trigger: number): ReadonlySet<number> {
  const { view, rounds, moment, settings } = seen
  const newest = firstNewRound(view, rounds)
  const tokensOf = (index: number): number => moment.toTokens(rounds[index]?.raw ?? 0)
  const always = rounds.flatMap((_, index) => (index >= newest ? [index] : []))
  const sumOf = (indexes: readonly number[]): number =>
    indexes.reduce((sum, index) => sum + tokensOf(index), 0)
  const room = Math.min(trigger, settings.windowTokens * OVERFLOW_SHARE) - moment.hiddenTokens
  let left = KEPT_SHARE_MAX * room - summaryTokens(settings) - sumOf(always)
  const kept = new Set(always)
  for (const index of policy.keeps(seen).toSorted((a, b) => b - a)) {
    if (kept.has(index)) continue
    left -= tokensOf(index)
    if (left < 0) break
    kept.add(index)
  }
  return kept
}
