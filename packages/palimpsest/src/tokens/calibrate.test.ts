import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../../../test/kit/cases.ts'
import { factorOf, observe, startCalibration, type Calibration } from './calibrate.ts'

const CLAUDE_4 = startCalibration('claude-4')

function observeAll(calibration: Calibration, ratios: readonly number[], rawTokens = 1_000): Calibration {
  return ratios.reduce(
    (seen, ratio) => observe(seen, { actualTokens: ratio * rawTokens, rawTokens }),
    calibration,
  )
}

const many = (count: number, ratio: number): number[] => Array.from({ length: count }, () => ratio)

describe('a calibration', () => {
  test('starts with the factor of the model family', () => {
    expect(factorOf(CLAUDE_4)).toBe(1)
    expect(factorOf(startCalibration('claude-4-7'))).toBe(1.3)
    expect(factorOf(startCalibration('o200k'))).toBeLessThan(1)
  })

  test('is replaced by reported figures after a few requests', () => {
    expect(factorOf(observeAll(CLAUDE_4, many(2, 1.2)))).toBe(1)
    expect(factorOf(observeAll(CLAUDE_4, many(4, 1.2)))).toBe(1.2)
  })

  test('is not affected by outliers, however extreme', () => {
    const seen = observeAll(CLAUDE_4, many(20, 1.1))
    expect(factorOf(observeAll(seen, many(10, 40)))).toBe(1.1)
    expect(factorOf(observeAll(seen, many(10, 0.01)))).toBe(1.1)
  })

  test('forgets slowly: a new factor wins after more than half its memory', () => {
    const old = observeAll(CLAUDE_4, many(200, 1.1))
    expect(factorOf(observeAll(old, many(20, 0.9)))).toBe(1.1)
    expect(factorOf(observeAll(old, many(64, 0.9)))).toBe(0.9)
  })

  test('stores no more than it needs', () => {
    expect(observeAll(CLAUDE_4, many(1_000, 1.1)).samples).toHaveLength(64)
  })

  test('learns nothing from amounts that are too small, or from a prompt that shrank', () => {
    expect(observe(CLAUDE_4, { actualTokens: 500, rawTokens: 99 })).toBe(CLAUDE_4)
    expect(observe(CLAUDE_4, { actualTokens: 0, rawTokens: 1_000 })).toBe(CLAUDE_4)
    expect(observe(CLAUDE_4, { actualTokens: -400, rawTokens: 1_000 })).toBe(CLAUDE_4)
    expect(observe(CLAUDE_4, { actualTokens: Number.NaN, rawTokens: 1_000 })).toBe(CLAUDE_4)
    expect(observe(CLAUDE_4, { actualTokens: 1_000, rawTokens: Number.NaN })).toBe(CLAUDE_4)
  })

  test('counts a huge result as one observation, not as several', () => {
    const seen = observeAll(CLAUDE_4, many(10, 1.1))
    expect(factorOf(observe(seen, { actualTokens: 300_000, rawTokens: 100_000 }))).toBe(1.1)
  })

  test('stays between half and twice its start, whatever is reported', () => {
    const sample = fc.record({ actualTokens: fc.double(), rawTokens: fc.double() })
    fc.assert(
      fc.property(
        fc.constantFrom('claude-4', 'claude-4-7', 'o200k', 'gemini'),
        fc.array(sample),
        (family, samples) => {
          const start = startCalibration(family)
          const factor = factorOf(samples.reduce(observe, start))
          expect(factor).toBeGreaterThanOrEqual(factorOf(start) / 2)
          expect(factor).toBeLessThanOrEqual(factorOf(start) * 2)
        },
      ),
      cases(500, 100_000),
    )
  })

  test('finds the true factor from noisy reports', () => {
    const noise = fc.array(fc.double({ min: -0.1, max: 0.1, noNaN: true }), { minLength: 64, maxLength: 64 })
    fc.assert(
      fc.property(fc.double({ min: 0.6, max: 1.8, noNaN: true }), noise, (truth, errors) => {
        const factor = factorOf(
          observeAll(
            CLAUDE_4,
            errors.map((error) => truth * (1 + error)),
          ),
        )
        expect(Math.abs(factor / truth - 1)).toBeLessThanOrEqual(0.1)
      }),
      cases(500, 100_000),
    )
  })
})
