import { createTracer, replayOne, STRATEGIES, type SessionReport, type Trace } from 'palimpsest/replay'
import { expect, test } from 'vitest'

import { inventSession, type Scripted } from '../../../../test/kit/invented-session.ts'
import { createGathering, type ReplayDocument } from './replay-document.ts'
import { renderPage } from './page/render-page.ts'
import { printReport } from './terminal/print-report.ts'

const WINDOWS = [20_000]
const strategies = STRATEGIES.filter(({ name }) => ['none', 'pi', 'palimpsest'].includes(name))
/** Of the long ones. In CI so many that they are compacted. */
const ROUNDS = process.env['SOAK'] ? 30 : 18
const [short, long] = [await replayed(8), await replayed(ROUNDS)]
const sessions = [short, long, long].map(([report, traces], index) => {
  const name = `s${index}.jsonl`
  return [{ ...report, session: name, project: name }, traces] as const
})

test('what is shown does not depend on which session was done first', () => {
  const forward = gathered([0, 1, 2])
  expect(gathered([2, 0, 1])).toEqual(forward)
  expect(forward.charted?.session).toBe('s1.jsonl')
  expect(forward.report.sessions.map(({ session }) => session)).toEqual(['s0.jsonl', 's1.jsonl', 's2.jsonl'])
  // The first request of each, which writes what no log shows; of equals the first.
  expect(forward.mostExpensive.map(({ strategy, session }) => `${strategy} ${session}`)).toEqual([
    'none s0.jsonl',
    'pi s0.jsonl',
    'palimpsest s0.jsonl',
  ])
  expect(forward.paired).toMatchObject([{ window: 20_000, rows: [{ against: 'none' }, { against: 'pi' }] }])
})

test('terminal and page are the same every time', () => {
  const shown = (): string[] => [
    printReport(gathered([0, 1, 2]), { columns: 120, colours: true }),
    renderPage(gathered([0, 1, 2]), { version: '1.2.3', at: 0 }),
  ]
  expect(shown()).toEqual(shown())
})

test('a few sessions give intervals and no verdict, six give one', () => {
  const text = (document: ReplayDocument): string => printReport(document, { columns: 80, colours: false })
  expect(text(gathered([0, 1, 2]))).toContain('too few sessions to judge by (at least 6)')
  const many = createGathering()
  Array.from({ length: 6 }, (_, index) => index).forEach((index) => {
    const [report, traces] = sessions[1] ?? []
    if (report && traces) many.add(index, report, traces)
  })
  expect(text(many.end(WINDOWS, []))).toMatch(/\npi +-?\d[\d.]* \(.*\) \+/)
})

function gathered(order: readonly number[]): ReplayDocument {
  const gathering = createGathering()
  for (const index of order) {
    const [report, traces] = sessions[index] ?? []
    if (report && traces) gathering.add(index, report, traces)
  }
  return gathering.end(WINDOWS, [])
}

async function replayed(rounds: number): Promise<readonly [SessionReport, readonly Trace[]]> {
  const session = inventSession(script(rounds))
  const tracer = createTracer(strategies)
  const report = await replayOne(session, { strategies: tracer.strategies, windows: WINDOWS })
  return [report, await tracer.end(session, WINDOWS)]
}

function script(rounds: number): Scripted[] {
  const read = Array.from({ length: rounds }, (_, round): Scripted => ({
    calls: [
      {
        name: 'Read',
        input: { file_path: `/p/src/part-${round}.ts`, after: `value_${round - 3}_5` },
        result: Array.from({ length: 40 }, (_, line) => `export const value_${round}_${line} = ${line}`).join(
          '\n',
        ),
      },
    ],
  }))
  return [{ user: 'Look at the parts of the parser.' }, ...read]
}
