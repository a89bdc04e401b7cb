import { expect, test } from 'vitest'

import { poolValues } from './pool.ts'

test('sessions weigh the same, those without a figure are left out', () => {
  expect(poolValues([0, null, 1])?.mean).toBe(0.5)
  expect(poolValues([null])).toBeUndefined()
})

test('one session has no spread', () => {
  expect(poolValues([0.25])).toEqual({ mean: 0.25, low: 0.25, high: 0.25, p10: 0.25 })
})

test('the interval holds the mean and is the same every time', () => {
  const values = Array.from({ length: 16 }, (_, i) => i / 15)
  const pooled = poolValues(values)
  expect(pooled).toEqual(poolValues(values))
  expect(pooled?.low).toBeLessThan(0.5)
  expect(pooled?.high).toBeGreaterThan(0.5)
  expect(pooled?.p10).toBeCloseTo(0.1)
})
