import type { Strategy } from '../strategy.ts'
import { createPeer } from './peer.ts'
import { newestRounds } from './peer-sight.ts'

// Numbers from docs/peers/pi.md.

const RESERVE_TOKENS = 16_384
const KEEP_RECENT_TOKENS = 20_000
const RESULT_CHARS_MAX = 2_000

export const pi: Strategy = createPeer({
  name: 'pi',
  // pi compacts above the limit, not at it, hence one more.
  triggerTokens: ({ windowTokens }) => windowTokens - RESERVE_TOKENS + 1,
  keeps: (seen) => newestRounds(seen, KEEP_RECENT_TOKENS),
  call: { kind: 'alone', resultCharsMax: RESULT_CHARS_MAX },
})
