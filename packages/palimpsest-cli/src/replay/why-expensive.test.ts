import { expect, test } from 'vitest'

import { TRACED_REQUEST } from '../../../../test/kit/traced-request.ts'
import { whyExpensive } from './why-expensive.ts'

const CHANGED = { kind: 'changed', path: 'messages.3', lostTokens: 70_400 } as const
const EXPIRED = { kind: 'expired', path: '', expiredMsAgo: 1, lostTokens: 80_000 } as const

test.each([
  [{}, '81K new tokens, and an answer of 900'],
  [{ explanation: { kind: 'first' } }, '81K tokens written for the first time: nothing was cached yet'],
  [
    { explanation: CHANGED, act: 'edit' },
    '81K tokens written, 70K lost from the cache: it edited earlier messages',
  ],
  [
    { explanation: CHANGED, act: 'compaction', callDollars: 0.2 },
    '81K tokens written, 70K lost from the cache: it compacted, $0.20 for its own call',
  ],
  [
    { explanation: CHANGED, act: 'compaction', callDollars: 1.2 },
    '$1.20 of it for its own call for a summary',
  ],
  [
    { explanation: EXPIRED, idleMs: 42 * 60_000 },
    '81K tokens written again: the cache had expired in a pause of 42 min',
  ],
  [
    { explanation: CHANGED, act: 'edit', idleMs: 5 * 3_600_000 },
    '81K tokens written again: the cache had expired in a pause of 5 h, which it used to edit',
  ],
] as const)('an expensive step has a reason: %j', (difference, why) => {
  const request = { ...TRACED_REQUEST, ...difference }
  expect(whyExpensive({ request, dollars: request.dollars + request.callDollars })).toBe(why)
})
