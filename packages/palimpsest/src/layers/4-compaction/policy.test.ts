import { expect, test } from 'vitest'

import { compactionPolicy } from './policy.ts'

test.each([1, 0.5, 0.4, 0.3, 0.08])(
  'at scale %d a rich compaction leaves no less than a lean one',
  (scale) => {
    const lean = compactionPolicy(scale)
    const rich = compactionPolicy(scale, 'rich')
    for (const size of ['keptShare', 'keptShareMax', 'keptTokensMax', 'madeShare', 'madeTokensMax'] as const)
      expect(rich[size]).toBeGreaterThanOrEqual(lean[size])
  },
)

test('what stays of a large window stops at a size, unless more was asked for', () => {
  const roomTokens = 160_000
  const { keptShare, keptTokensMax } = compactionPolicy(1)
  expect(keptShare * roomTokens).toBeGreaterThan(keptTokensMax)
  expect(compactionPolicy(1, 'rich').keptTokensMax).toBe(Infinity)
})

test('a small window keeps more of itself, and more of it as lines', () => {
  const small = compactionPolicy(0.3)
  const large = compactionPolicy(1)
  expect(small.keptShare).toBeGreaterThan(large.keptShare)
  expect(small.madeShare).toBeGreaterThan(large.madeShare)
})
