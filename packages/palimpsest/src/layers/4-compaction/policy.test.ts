import fc from 'fast-check'
import { expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { compactionPolicy, excerptShareIn, keptTokens } from './policy.ts'

test('a rich compaction never keeps less than a lean one, whatever the room', () => {
  fc.assert(
    fc.property(fc.constantFrom(1, 0.5, 0.3, 0.08), fc.nat(200_000), (scale, room) => {
      const [lean, rich] = [compactionPolicy(scale), compactionPolicy(scale, 'rich')]
      expect(keptTokens(rich, room)).toBeGreaterThanOrEqual(keptTokens(lean, room))
      for (const size of ['keptShareMax', 'keptTokensMax', 'excerptTokensMax'] as const)
        expect(rich[size]).toBeGreaterThanOrEqual(lean[size])
    }),
    cases(500, 100_000),
  )
})

test('what is kept of a large window is capped, unless more was asked for', () => {
  const roomTokens = 160_000
  const { keptShare, keptTokensMax } = compactionPolicy(1)
  expect(keptShare * roomTokens).toBeGreaterThan(keptTokensMax)
  expect(compactionPolicy(1, 'rich').keptTokensMax).toBe(Infinity)
})

test('a small room keeps a larger share, whatever the window, and no larger room keeps less', () => {
  for (const scale of [1, 0.5, 0.3]) {
    const policy = compactionPolicy(scale)
    expect(keptTokens(policy, 10_000) / 10_000).toBeGreaterThan(keptTokens(policy, 100_000) / 100_000)
    expect(excerptShareIn(policy, 10_000)).toBeLessThan(excerptShareIn(policy, 100_000))
    const rooms = Array.from({ length: 80 }, (_, i) => 2_000 * (i + 1))
    const kept = rooms.map((room) => keptTokens(policy, room))
    expect(kept).toEqual(kept.toSorted((a, b) => a - b))
  }
})
