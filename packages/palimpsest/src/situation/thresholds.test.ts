import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../../../test/kit/cases.ts'
import { NO_MODELS, resolveModel } from '../tokens/models.ts'
import { computeThresholds, reportContext } from './thresholds.ts'
import { computeWindow, type Window } from './window.ts'

const OPUS = resolveModel(NO_MODELS, 'claude-opus-4-5', 'here')
const at = (windowMax: number): Window => computeWindow(OPUS, { windowMax })

describe('the thresholds', () => {
  test.each([
    { window: 200_000, warning: 147_000, error: 157_000, auto: 167_000, blocking: 177_000 },
    { window: 60_000, warning: 44_100, error: 47_100, auto: 50_100, blocking: 53_100 },
    { window: 16_000, warning: 11_760, error: 12_560, auto: 13_360, blocking: 14_160 },
  ])('at $window are $warning, $error, $auto, $blocking', ({ window, ...thresholds }) => {
    expect(computeThresholds(at(window))).toEqual(thresholds)
  })

  test('do not grow with a window above 200,000 unless the full window is used', () => {
    const wide = resolveModel(NO_MODELS, 'claude-opus-5-5', 'here')
    expect(computeThresholds(computeWindow(wide)).auto).toBe(167_000)
    expect(computeThresholds(computeWindow(wide, { workingWindow: 'full' }))).toEqual({
      warning: 947_000,
      error: 957_000,
      auto: 967_000,
      blocking: 977_000,
    })
  })

  test('stay below a price step', () => {
    const haiku = computeWindow(resolveModel(NO_MODELS, 'claude-haiku-5-5', 'here'))
    expect(computeThresholds(haiku)).toEqual({
      warning: 69_825,
      error: 74_575,
      auto: 79_325,
      blocking: 84_075,
    })
  })

  test('are lowered by a percentage of the effective window, never raised', () => {
    expect(computeThresholds(at(200_000), { autoPercent: 50 })).toEqual({
      warning: 70_000,
      error: 80_000,
      auto: 90_000,
      blocking: 177_000,
    })
    expect(computeThresholds(at(200_000), { autoPercent: 100 }).auto).toBe(167_000)
  })

  test('block at an absolute limit if one is set, within the window; automatic compaction happens there at the latest', () => {
    expect(computeThresholds(at(200_000), { blockingLimit: 120_000 })).toEqual({
      warning: 100_000,
      error: 110_000,
      auto: 120_000,
      blocking: 120_000,
    })
    expect(computeThresholds(at(200_000), { blockingLimit: 999_999 }).blocking).toBe(200_000)
  })

  test('refer to the effective window without automatic compaction, and to a limit that is closer', () => {
    expect(computeThresholds(at(200_000), { autoEnabled: false })).toEqual({
      warning: 160_000,
      error: 170_000,
      auto: 167_000,
      blocking: 177_000,
    })
    expect(computeThresholds(at(60_000), { autoEnabled: false })).toMatchObject({
      warning: 48_000,
      error: 51_000,
    })
    const low = { autoEnabled: false, autoPercent: 50, blockingLimit: 120_000 }
    expect(computeThresholds(at(200_000), low)).toEqual({
      warning: 100_000,
      error: 110_000,
      auto: 90_000,
      blocking: 120_000,
    })
  })

  test('are in order and never negative, in any window', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 400_000 }),
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 400_000 }),
        (tokens, autoPercent, blockingLimit) => {
          for (const overrides of [{}, { autoPercent }, { blockingLimit }, { autoPercent, blockingLimit }]) {
            const { warning, error, auto, blocking } = computeThresholds(at(tokens), overrides)
            expect(warning).toBeGreaterThanOrEqual(0)
            expect(error).toBeGreaterThanOrEqual(warning)
            expect(auto).toBeGreaterThanOrEqual(error)
            expect(blocking).toBeGreaterThanOrEqual(auto)
            expect(blocking).toBeLessThanOrEqual(tokens)
            const off = computeThresholds(at(tokens), { ...overrides, autoEnabled: false })
            expect(off.warning).toBeGreaterThanOrEqual(warning)
            expect(off.error).toBeGreaterThanOrEqual(off.warning)
            expect(off.blocking).toBe(blocking)
          }
        },
      ),
      cases(500, 100_000),
    )
  })
})

describe('the report', () => {
  const window = at(200_000)
  const thresholds = computeThresholds(window)
  const report = (used: number, autoEnabled = true) =>
    reportContext(used, { window, thresholds, autoEnabled })

  test('is clear for an empty conversation', () => {
    expect(report(0)).toEqual({
      room: 177_000,
      percentLeft: 100,
      isAboveWarning: false,
      isAboveError: false,
      isAboveAuto: false,
      isAboveBlocking: false,
    })
  })

  test.each([
    { used: 146_999, flags: [false, false, false, false] },
    { used: 147_000, flags: [true, false, false, false] },
    { used: 157_000, flags: [true, true, false, false] },
    { used: 167_000, flags: [true, true, true, false] },
    { used: 177_000, flags: [true, true, true, true] },
  ])('counts a threshold that was just reached as passed: $used', ({ used, flags }) => {
    const { isAboveWarning, isAboveError, isAboveAuto, isAboveBlocking } = report(used)
    expect([isAboveWarning, isAboveError, isAboveAuto, isAboveBlocking]).toEqual(flags)
  })

  test('gives the free share of the automatic threshold, rounded, never below 0', () => {
    expect(report(83_500).percentLeft).toBe(50)
    expect(report(166_000).percentLeft).toBe(1)
    expect(report(166_500).percentLeft).toBe(0)
    expect(report(400_000).percentLeft).toBe(0)
  })

  test('gives the free share of the effective window if auto is off, and then never sets the auto flag', () => {
    expect(report(90_000, false).percentLeft).toBe(50)
    expect(report(178_000, false)).toEqual({
      room: 177_000,
      percentLeft: 1,
      isAboveWarning: true,
      isAboveError: true,
      isAboveAuto: false,
      isAboveBlocking: true,
    })
  })

  test('says 0 percent in a window without any room', () => {
    const none = at(1)
    expect(
      reportContext(0, { window: none, thresholds: computeThresholds(none), autoEnabled: true }).percentLeft,
    ).toBe(100)
    const closed = { ...none, effective: 0 }
    expect(
      reportContext(0, { window: closed, thresholds: computeThresholds(closed), autoEnabled: true }),
    ).toMatchObject({
      percentLeft: 0,
      isAboveBlocking: true,
    })
  })

  test('never gains room as the conversation grows', () => {
    fc.assert(
      fc.property(fc.nat(300_000), fc.nat(50_000), fc.boolean(), (used, more, autoEnabled) => {
        expect(report(used + more, autoEnabled).percentLeft).toBeLessThanOrEqual(
          report(used, autoEnabled).percentLeft,
        )
      }),
      cases(500, 100_000),
    )
  })
})
