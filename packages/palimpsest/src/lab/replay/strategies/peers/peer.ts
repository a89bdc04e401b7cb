import type { View } from '../../../../transcript/view.ts'
import { FALLBACK_SHARE, planDrop } from '../drop-oldest.ts'
import { firstNewRound, roundsOf } from '../round.ts'
import { NO_ACTIONS, type Actions, type Moment, type Strategy, type StrategySettings } from '../strategy.ts'
import type { PeerSight } from './peer-sight.ts'
import { replaceBySummary, summaryTokens, type SummaryCall } from './replace-by-summary.ts'
import { fullAt } from '../../../../situation/is-full.ts'

// What the peers' policies have in common: something cheap before every request, and at a size of their own a summary in the place of
// all but what they keep. What is the same for all of them, and what is left out, is in docs/peers/README.md.

export interface PeerPolicy {
  readonly name: string
  /** Tokens at which it compacts, as published. */
  readonly triggerTokens: (settings: StrategySettings) => number
  /** What it holds against the trigger. Left out: the whole request. */
  readonly count?: (view: View, moment: Moment) => number
  /** Rounds that stay, by index. What no request has carried yet stays anyway. */
  readonly keeps: (seen: PeerSight) => readonly number[]
  readonly call: SummaryCall
  /** Without a model, before every request. */
  readonly reduce?: (view: View, moment: Moment, settings: StrategySettings) => Actions
}

/** A prompt that the recorded agent hides must leave so much of the window below the trigger; else the policy would fire at every step. */
const ROOM_SHARE_MIN = 0.15

/** What may stay of the room below the trigger: else it fires again at once. */
const KEPT_SHARE_MAX = 0.8

/** From here on the provider refuses, estimates being what they are; every peer then compacts. */
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

/** The newest of what the policy keeps, as far as there is room. */
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
