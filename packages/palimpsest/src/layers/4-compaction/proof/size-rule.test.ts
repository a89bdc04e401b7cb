import { describe, expect, test } from 'vitest'

import { isGain, mostLeft, strictTarget, targetFor } from './size-rule.ts'

const NOTHING = { tokens: 0, isPart: false }
const found = (sizeTokens: number, prefixTokens = 10_000) => ({
  thresholds: { auto: 100_000 },
  sizeTokens,
  prefixTokens,
})

describe('what a compaction may leave', () => {
  test('is 60% of the messages and of the threshold, or 50% of the messages if the user asked for it', () => {
    expect(mostLeft(found(100_000), 'threshold', NOTHING)).toBe(60_000)
    expect(mostLeft(found(60_000), 'threshold', NOTHING)).toBe(40_000)
    expect(mostLeft(found(60_000), 'asked', NOTHING)).toBe(35_000)
    expect(mostLeft(found(100_000), 'overflow', NOTHING)).toBe(60_000)
  })

  test('excludes what the user wants to keep, and ignores the threshold if only a part is compacted', () => {
    expect(mostLeft(found(60_000), 'asked', { tokens: 20_000, isPart: false })).toBe(45_000)
    expect(mostLeft(found(160_000), 'asked', { tokens: 100_000, isPart: true })).toBe(135_000)
  })

  test('is relative to the room if system and tools take more than a quarter of the threshold, except for a summary at hand', () => {
    expect(targetFor(found(0, 25_000))).toBe(60_000)
    expect(targetFor(found(0, 40_000))).toBe(76_000)
    expect(strictTarget(found(0, 40_000))).toBe(60_000)
  })

  test('counts as a gain only beyond the error of an estimate', () => {
    expect(isGain(found(50_000), 48_000)).toBe(true)
    expect(isGain(found(50_000), 48_001)).toBe(false)
    expect(isGain(found(50_000), 50_001)).toBe(false)
  })
})
