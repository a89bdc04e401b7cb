import { expect, test } from 'vitest'

import { poolValues, PROJECTS_MIN, type Pooled } from './pool.ts'

/** Each session of a project of its own. */
function pool(values: readonly (number | null)[]): Pooled | undefined {
  return poolValues(values.map((value, i) => ({ value, project: `p${i}` })))
}

test('all sessions have the same weight, and those without a figure are left out', () => {
  expect(pool([0, null, 1])?.mean).toBe(0.5)
  expect(pool([null])).toBeUndefined()
})

test('a single session has no spread', () => {
  expect(pool([0.25])).toEqual({ mean: 0.25, low: 0.25, high: 0.25, p10: 0.25 })
})

test('the interval contains the mean and is the same every time', () => {
  const values = Array.from({ length: 16 }, (_, i) => i / 15)
  const pooled = pool(values)
  expect(pooled).toEqual(pool(values))
  expect(pooled?.low).toBeLessThan(0.5)
  expect(pooled?.high).toBeGreaterThan(0.5)
  expect(pooled?.p10).toBeCloseTo(0.1)
})

test('sessions of one project are drawn together: more of them do not narrow the interval', () => {
  const projects = Array.from({ length: 8 }, (_, i) => ({ value: i / 7, project: `p${i}` }))
  const once = poolValues(projects)
  const thrice = poolValues([...projects, ...projects, ...projects])
  expect(thrice).toMatchObject({ low: once?.low, high: once?.high })
  expect(thrice?.mean).toBeCloseTo(once?.mean ?? 0)
})

test('with few projects, sessions are drawn: one project alone would have no spread', () => {
  const values = Array.from({ length: 16 }, (_, i) => i / 15)
  const ofFew = (count: number): Pooled | undefined =>
    poolValues(values.map((value, i) => ({ value, project: `p${i % count}` })))
  expect(ofFew(1)).toEqual(pool(values))
  expect(ofFew(PROJECTS_MIN - 1)).toEqual(pool(values))
  expect(ofFew(PROJECTS_MIN)).not.toEqual(pool(values))
})
