import { expect, test } from 'vitest'

import { fullAt, isFull, roomUntilFull } from './is-full.ts'

test('a window is full from its threshold on, and the prefix before the messages takes part of the room', () => {
  const thresholds = { auto: 1_000 }
  expect([999, 1_000, 1_001].map((size) => isFull(size, thresholds))).toEqual([false, true, true])
  expect(fullAt(thresholds)).toBe(1_000)
  expect([0, 400, 2_000].map((prefix) => roomUntilFull(thresholds, prefix))).toEqual([1_000, 600, 0])
})
