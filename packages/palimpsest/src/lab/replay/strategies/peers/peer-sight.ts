import type { View } from '../../../../transcript/view.ts'
import type { Round } from '../round.ts'
import type { Moment, StrategySettings } from '../strategy.ts'

/** What a peer sees when it chooses what stays. */
export interface PeerSight {
  readonly view: View
  readonly rounds: readonly Round[]
  readonly moment: Moment
  readonly settings: StrategySettings
}

/** The newest rounds, whole, up to this many tokens; the round that crosses the limit leaves. */
export function newestRounds({ rounds, moment }: PeerSight, tokensMax: number): readonly number[] {
  let left = tokensMax
  const kept: number[] = []
  for (let index = rounds.length - 1; index >= 0; index--) {
    left -= moment.toTokens(rounds[index]?.raw ?? 0)
    if (left < 0) break
    kept.push(index)
  }
  return kept
}

/** The request size after the newest answer: all that a tool knows if it uses only reported usage. */
export function reportedSize(view: View, moment: Moment): number {
  const newest = view.nodes.findLastIndex((node) => node.role === 'assistant')
  if (newest < 0) return 0
  const pending = view.nodes
    .slice(newest + 1)
    .flatMap((node) => node.blocks)
    .reduce((sum, block) => sum + block.tokens, 0)
  return moment.sizeTokens - moment.toTokens(pending)
}
