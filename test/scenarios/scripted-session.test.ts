import { expect, test } from 'vitest'

import { createRandom } from '../../packages/palimpsest/src/lab/replay/measure/random.ts'
import { sample, scriptSession } from '../kit/scripted-session.ts'
import { PAUSE_SECONDS, SHARES, TOOL_SIZES } from '../kit/session-sizes.ts'

test('the same seed makes the same session, and another seed makes another', () => {
  expect(scriptSession(7, 50_000)).toEqual(scriptSession(7, 50_000))
  expect(scriptSession(8, 50_000)).not.toEqual(scriptSession(7, 50_000))
})

test.each([
  ['results of the shell', TOOL_SIZES.Bash.result],
  ['results of reading', TOOL_SIZES.Read.result],
  ['inputs of edits', TOOL_SIZES.Edit.input],
  ['pauses', PAUSE_SECONDS],
])('%s are as large as the recorded ones, at every known share', (_what, known) => {
  const random = createRandom(1)
  const sampled = Array.from({ length: 20_000 }, () => sample(random, known)).toSorted((a, b) => a - b)
  for (const [i, share] of SHARES.entries()) {
    const found = sampled[Math.min(sampled.length - 1, Math.floor(share * sampled.length))] ?? 0
    expect(found / Math.max(1, known[i] ?? 0)).toBeLessThan(1.1)
    expect(found).toBeGreaterThan(0.9 * (known[i] ?? 0) - 1)
  }
})

test('calls, answers and turns come in the recorded proportions', () => {
  const { turns } = scriptSession(1, 2_000_000)
  const rounds = turns.flatMap((turn) => turn.rounds)
  const calls = rounds.flatMap((round) => round.calls)
  const share = (part: number, whole: number): number => Math.round((100 * part) / whole) / 100
  expect(share(calls.filter(({ tool }) => tool === 'Bash').length, calls.length)).toBeCloseTo(0.48, 1)
  expect(share(calls.filter(({ tool }) => tool === 'Read').length, calls.length)).toBeCloseTo(0.21, 1)
  expect(share(calls.length, rounds.length)).toBeCloseTo(1.14, 1)
  expect(share(rounds.filter(({ thinking }) => thinking).length, rounds.length)).toBeCloseTo(0.5, 1)
  expect(rounds.length / turns.length).toBeGreaterThan(9)
  expect(rounds.length / turns.length).toBeLessThan(15)
})
