import { expect, test } from 'vitest'

import type { SessionTask } from './session-task.ts'
import { firstLookFirst, largestFirst } from './task-order.ts'

test.each([
  ['the smallest that is long enough', [3, 2, 0.5, 1.5, 9], [1.5, 3, 2, 0.5, 9]],
  ['the longest, where none is long enough', [0.1, 0.3, 0.2], [0.3, 0.1, 0.2]],
  ['the newest of equal ones', [0.1, 0.1], [0.1, 0.1]],
  ['nothing, where there is nothing', [], []],
])('first comes %s', (_, megabytes, expected) => {
  expect(sizes(firstLookFirst(tasksOf(megabytes)))).toEqual(expected)
})

test('an old session does not come first, however suitable', () => {
  const old = [...Array.from({ length: 10 }, () => 5), 1]
  expect(firstLookFirst(tasksOf(old))[0]?.file.bytes).toBe(5_000_000)
})

test('named files are ordered by size', () => {
  expect(sizes(largestFirst(tasksOf([1, 3, 2])))).toEqual([3, 2, 1])
})

function tasksOf(megabytes: readonly number[]): SessionTask[] {
  return megabytes.map((size, index) => {
    const file = { path: `/${index}`, name: `${index}`, bytes: size * 1_000_000 }
    return { index, file, strategies: [], windows: [] }
  })
}

function sizes(tasks: readonly SessionTask[]): number[] {
  return tasks.map(({ file }) => file.bytes / 1_000_000)
}
