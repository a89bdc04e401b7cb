import fc from 'fast-check'
import { expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import type { ProviderFailure } from '../errors.ts'
import { retryWaitMs, SUMMARY_RETRIES, TURN_RETRIES, type RetryPolicy } from './retry-policy.ts'

const waits = (failure: ProviderFailure, policy: RetryPolicy): readonly (number | undefined)[] =>
  Array.from({ length: 9 }, (_, i) => retryWaitMs(failure, i + 1, policy))

test('waits double up to a bound, and then stop', () => {
  expect(waits({ kind: 'overloaded' }, TURN_RETRIES)).toEqual([
    500,
    1_000,
    2_000,
    4_000,
    8_000,
    16_000,
    32_000,
    undefined,
    undefined,
  ])
  expect(waits({ kind: 'overloaded' }, SUMMARY_RETRIES).slice(0, 3)).toEqual([2_000, 4_000, undefined])
  expect(retryWaitMs({ kind: 'overloaded' }, 1, TURN_RETRIES, 1)).toBe(375)
})

test('a request that cannot succeed later is not retried', () => {
  for (const kind of ['unauthorized', 'over-limit', 'context-overflow', 'unusable-address'] as const)
    for (const policy of [TURN_RETRIES, SUMMARY_RETRIES])
      expect(retryWaitMs({ kind }, 1, policy)).toBeUndefined()
  expect(retryWaitMs({ kind: 'stalled' }, 1, SUMMARY_RETRIES)).toBeUndefined()
})

test('if a provider demands too long a wait, a turn gives up, while a summary retries sooner', () => {
  const failure = { kind: 'rate-limited', retryAfterMs: 3_600_000 } as const
  expect(retryWaitMs(failure, 1, TURN_RETRIES)).toBeUndefined()
  expect(retryWaitMs(failure, 1, SUMMARY_RETRIES)).toBe(30_000)
})

test('no wait exceeds its bounds, whatever a provider demands', () => {
  fc.assert(
    fc.property(
      fc.nat(),
      fc.integer({ min: 1, max: 20 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (ms, n, random) => {
        for (const policy of [TURN_RETRIES, SUMMARY_RETRIES]) {
          const wait = retryWaitMs({ kind: 'transport', retryAfterMs: ms }, n, policy, random) ?? 0
          expect(wait).toBeLessThanOrEqual(policy.retryAfterMsMax)
          expect(retryWaitMs({ kind: 'transport' }, n, policy, random) ?? 0).toBeLessThanOrEqual(
            policy.waitMsMax,
          )
        }
      },
    ),
    cases(500, 100_000),
  )
})
