import { expect, test } from 'vitest'

import { inventSession, type Scripted } from '../../../../../test/kit/invented-session.ts'
import { createTracer, type Trace } from './create-tracer.ts'
import { findMostExpensive } from './find-most-expensive.ts'
import { replayOne } from './replay-one.ts'
import { STRATEGIES } from './strategies/all.ts'

/** In CI a small session in small windows: all that a trace tells of occurs in it. */
const { WINDOWS, ROUNDS } = process.env['SOAK']
  ? { WINDOWS: [30_000, 40_000], ROUNDS: 40 }
  : { WINDOWS: [28_000, 32_000], ROUNDS: 24 }
const session = inventSession(script())
const strategies = STRATEGIES.filter(({ name }) => ['none', 'mask-3', 'tail-20', 'pi'].includes(name))
const tracer = createTracer(strategies)
const report = await replayOne(session, { strategies: tracer.strategies, windows: WINDOWS })
const traces = await tracer.end(session, WINDOWS)

test('a trace has every request of every strategy and window, and its sums equal those of the row', () => {
  expect(traces.map(({ strategy, window }) => `${strategy} ${window}`)).toEqual(
    WINDOWS.flatMap((window) => strategies.map(({ name }) => `${name} ${window}`)),
  )
  for (const trace of traces) {
    const row = report.strategies.find(
      ({ strategy, window, at }) =>
        at === undefined && strategy === trace.strategy && window === trace.window,
    )
    const { requests } = trace
    expect(requests.map(({ step }) => step)).toEqual(session.steps.map((_, index) => index))
    expect(Math.max(...requests.map(({ promptTokens }) => promptTokens))).toBe(row?.peak_tokens)
    expect(requests.filter(({ act }) => act !== 'none')).toHaveLength(row?.compactions ?? -1)
    expect(sum(requests.map(({ dollars, callDollars }) => dollars + callDollars))).toBeCloseTo(
      row?.cost_usd ?? -1,
      9,
    )
  }
})

test('tracing changes no figure', async () => {
  expect(await replayOne(session, { strategies, windows: WINDOWS })).toEqual(report)
})

test('a boundary is a compaction; messages cleared or dropped one by one are an edit', () => {
  const acts = (name: string): string[] => [...new Set(find(name).requests.map(({ act }) => act))].toSorted()
  expect(acts('pi')).toEqual(['compaction', 'none'])
  // When masks do not suffice, rounds go.
  expect(acts('mask-3')).toEqual(['compaction', 'edit', 'none'])
  expect(acts('tail-20')).toEqual(['edit', 'none'])
  expect(acts('none')).toEqual(['none'])
})

test('no step costs more than the most expensive one, including its own calls', () => {
  for (const trace of traces) {
    const mostExpensive = findMostExpensive(trace)
    const dollars = trace.requests.map((request) => request.dollars + request.callDollars)
    expect(mostExpensive?.dollars).toBe(Math.max(...dollars))
    expect(dollars.filter((one) => one < (mostExpensive?.medianDollars ?? 0)).length).toBeLessThanOrEqual(
      dollars.length / 2,
    )
  }
  expect(findMostExpensive({ strategy: 'x', window: 1, requests: [] })).toBeUndefined()
})

function find(name: string): Trace {
  const trace = traces.find(({ strategy }) => strategy === name)
  if (!trace) throw new Error(`no trace of ${name}`)
  return trace
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

function script(): Scripted[] {
  const rounds = Array.from({ length: ROUNDS }, (_, round): Scripted => ({
    calls: [
      {
        name: 'Read',
        input: { file_path: `/p/src/part-${round}.ts` },
        result: Array.from({ length: 60 }, (_, line) => `export const value_${round}_${line} = ${line}`).join(
          '\n',
        ),
      },
    ],
  }))
  return [{ user: 'Look at the parts of the parser.' }, ...rounds]
}
