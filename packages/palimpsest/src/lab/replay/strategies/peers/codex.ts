import type { Strategy } from '../strategy.ts'
import { createPeer } from './peer.ts'
import type { PeerSight } from './peer-sight.ts'

// Numbers from docs/peers/codex.md.

const TRIGGER_SHARE = 0.9
const USER_TOKENS_MAX = 20_000

export const codex: Strategy = createPeer({
  name: 'codex',
  triggerTokens: ({ windowTokens }) => TRIGGER_SHARE * windowTokens,
  keeps: newestUsers,
  call: { kind: 'alone' },
})

/** Only the user's messages, newest first. */
function newestUsers({ rounds, moment }: PeerSight): readonly number[] {
  let left = USER_TOKENS_MAX
  const kept: number[] = []
  for (let index = rounds.length - 1; index >= 0; index--) {
    const round = rounds[index]
    if (!round?.isUser) continue
    left -= moment.toTokens(round.raw)
    if (left < 0) break
    kept.push(index)
  }
  return kept
}
