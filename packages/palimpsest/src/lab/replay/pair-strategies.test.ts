import { describe, expect, test } from 'vitest'

import { inventSession } from '../../../../../test/kit/invented-session.ts'
import { pairStrategies } from './pair-strategies.ts'
import { replayOne, type SessionReport } from './replay-one.ts'
import type { Row } from './row.ts'
import { STRATEGIES } from './strategies/all.ts'

const WINDOW = 100_000
const whole = await replayOne(inventSession([{ user: 'Go.' }, { say: 'Gone.' }]), {
  strategies: STRATEGIES.slice(0, 1),
  windows: [WINDOW],
})
const [template] = whole.strategies

function row(strategy: string, [cost, line, edit]: readonly (number | null)[], window = WINDOW): Row {
  if (!template) throw new Error('no row to start from')
  return {
    ...template,
    strategy,
    window,
    cost_ratio: cost ?? null,
    frr_line: line ?? null,
    edit_line: edit ?? null,
  }
}

function session(name: string, strategies: readonly Row[]): SessionReport {
  return { ...whole, session: name, strategies }
}

describe('two strategies on the same sessions', () => {
  test('differ by session: a constant advantage gives an interval of zero width, however much the sessions differ', () => {
    const sessions = [0.2, 0.9, 0.4, 0.7].map((cost, index) =>
      session(`s${index}`, [
        row('ours', [cost, 1 - cost / 2, 1]),
        row('theirs', [cost + 0.1, 0.9 - cost / 2, null]),
        row('theirs', [5, 0, 0], 200_000),
        { ...row('random', [null, 0, 0]), at: 'ours' },
      ]),
    )
    const [paired, ...more] = pairStrategies(sessions, WINDOW, 'ours')
    expect(more).toEqual([])
    expect(paired).toMatchObject({ against: 'theirs', sessions: 4, edit_line: null })
    for (const [difference, is] of [
      [paired?.cost_ratio, -0.1],
      [paired?.frr_line, 0.1],
    ] as const) {
      expect(difference?.mean).toBeCloseTo(is, 9)
      expect(difference?.low).toBeCloseTo(is, 9)
      expect(difference?.high).toBeCloseTo(is, 9)
    }
  })

  test('the interval contains the mean, and is the same every time', () => {
    const sessions = [0.3, -0.1, 0.2, 0.05, -0.02].map((less, index) =>
      session(`s${index}`, [row('ours', [0.5, 0.8, 0.9]), row('theirs', [0.5 + less, 0.8 - less, 0.9])]),
    )
    const [paired] = pairStrategies(sessions, WINDOW, 'ours')
    const { mean = 0, low = 0, high = 0 } = paired?.cost_ratio ?? {}
    expect(mean).toBeCloseTo(-0.086, 9)
    expect([low < mean, mean < high]).toEqual([true, true])
    expect(paired?.edit_line).toEqual({ mean: 0, low: 0, high: 0 })
    expect(pairStrategies(sessions, WINDOW, 'ours')).toEqual([paired])
  })

  test('a session missing from one of them is left out', () => {
    const sessions = [
      session('a', [row('ours', [0.5, 0.8, 0.9])]),
      session('b', [row('ours', [0.5, 0.8, 0.9]), row('theirs', [0.6, 0.8, 0.9])]),
      session('c', [row('theirs', [0.1, 0.8, 0.9])]),
    ]
    expect(pairStrategies(sessions, WINDOW, 'ours').map(({ sessions: both }) => both)).toEqual([1])
    expect(pairStrategies(sessions, WINDOW, 'nobody')).toEqual([])
  })
})
