import { expect, test } from 'vitest'

import { expectGolden, sessionOfSize, SESSION_SIZES, unmanagedOf } from '../kit/golden-ledger.ts'
import { brokenPrefixes, playScripted } from '../kit/play-scripted.ts'

// A whole session with the sizes of recorded ones, through the agent on the simulator: what management costs and saves, request by
// request. The longer ones stand in `scripted.heavy.test.ts`.

const MODEL = 'claude-opus-5'
const HIT_RATE_MIN = 0.95

test('a session of 90K tokens costs no more managed than unmanaged; without an edit each request extends the whole previous one', async () => {
  const session = sessionOfSize('90k')
  const unmanaged = await playScripted(session, { model: MODEL, window: 'unmanaged' })
  const managed = await playScripted(session, { model: MODEL, window: 200_000 })
  const small = await playScripted(session, { model: MODEL, window: 60_000 })
  expect((unmanaged.rows.at(-1)?.request.input_tokens ?? 0) / SESSION_SIZES['90k']).toBeCloseTo(1, 1)
  expect(managed.costUsd).toBeLessThanOrEqual(unmanaged.costUsd)
  expect(small.costUsd).toBeLessThanOrEqual(unmanaged.costUsd)
  expect(managed.hitRate).toBeGreaterThanOrEqual(HIT_RATE_MIN)
  expect(brokenPrefixes(managed.rows)).toEqual([])
  expect(brokenPrefixes(small.rows)).toEqual([])
  await expectGolden('90k-in-200k', managed, unmanagedOf(unmanaged))
  await expectGolden('90k-in-60k', small, unmanagedOf(unmanaged))
})
