import type { Strategy, StrategySettings } from '../strategy.ts'
import { createPeer } from './peer.ts'
import { newestRounds, reportedSize } from './peer-sight.ts'

// Numbers from docs/peers/opencode.md.

/** Most output that it asks a model for; it keeps as much of the window free. */
const OUTPUT_TOKENS_MAX = 32_000
/** Share of the usable window for the newest messages. */
const TAIL_SHARE = 0.25
const TAIL_TOKENS_MIN = 2_000
const TAIL_TOKENS_MAX = 15_000
const RESULT_CHARS_MAX = 2_000

export const opencode: Strategy = createPeer({
  name: 'opencode',
  triggerTokens: usable,
  count: reportedSize,
  keeps: (seen) => newestRounds(seen, tailTokens(seen.settings)),
  call: { kind: 'alone', resultCharsMax: RESULT_CHARS_MAX },
})

function usable({ windowTokens }: StrategySettings): number {
  return Math.max(0, windowTokens - OUTPUT_TOKENS_MAX)
}

function tailTokens(settings: StrategySettings): number {
  return Math.min(TAIL_TOKENS_MAX, Math.max(TAIL_TOKENS_MIN, TAIL_SHARE * usable(settings)))
}
