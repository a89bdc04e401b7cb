import type { Strategy } from '../strategy.ts'
import { createPeer } from './peer.ts'
import type { PeerSight } from './peer-sight.ts'

// Numbers from docs/peers/langchain.md.

const TRIGGER_SHARE = 0.85
const KEEP_MESSAGES = 20
/** The most that the summarizing model sees. */
const SHOWN_TOKENS_MAX = 4_000

export const langchain: Strategy = createPeer({
  name: 'langchain',
  triggerTokens: ({ windowTokens }) => TRIGGER_SHARE * windowTokens,
  keeps: newestMessages,
  call: { kind: 'alone', tokensMax: SHOWN_TOKENS_MAX },
})

/** A cut inside a round moves back to its answer. */
function newestMessages({ view, rounds }: PeerSight): readonly number[] {
  const first = view.nodes.length - KEEP_MESSAGES
  return rounds.flatMap((round, index) => (round.end > first ? [index] : []))
}
