import type { View } from '../../../../transcript/view.ts'
import type { Round } from '../round.ts'
import type { Moment, StrategySettings } from '../strategy.ts'

/** What a policy sees when it chooses what stays. */
export interface PeerSight {
  readonly view: View
  readonly rounds: readonly Round[]
  readonly moment: Moment
  readonly settings: StrategySettings
}

/** The newest rounds, whole, up to so many tokens; one that crosses the limit goes. */
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

/** The request as the newest answer left it: what a tool knows that goes by reported usage alone. */
export function reportedSize(view: View, moment: Moment): number {
  const newest = view.nodes.findLastIndex((node) => node.role === 'assistant')
  if (newest < 0) return 0
  const pending = view.nodes
    .slice(newest + 1)
    .flatMap((node) => node.blocks)
    .reduce((sum, block) => sum + block.tokens, 0)
  return moment.sizeTokens - moment.toTokens(pending)
}
