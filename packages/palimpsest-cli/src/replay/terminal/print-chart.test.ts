import type { Trace, TracedRequest } from 'palimpsest/replay'
import { expect, test } from 'vitest'

import { printChart } from './print-chart.ts'

const WINDOW = 8_000

function trace(
  strategy: string,
  sizes: readonly number[],
  acts: { readonly [step: number]: 'edit' | 'compaction' } = {},
): Trace {
  const requests = sizes.map((promptTokens, step): TracedRequest => ({
    step,
    promptTokens,
    act: acts[step] ?? 'none',
    readTokens: 0,
    writtenTokens: 0,
    uncachedTokens: 0,
    outputTokens: 0,
    explanation: { kind: 'first' },
    idleMs: 0,
    dollars: 0,
    callDollars: 0,
  }))
  return { strategy, window: WINDOW, requests }
}

test('requests are bars on one scale, with edits and compactions marked below', () => {
  const traces = [
    trace('none', [1_000, 4_000, 8_000, 12_000]),
    trace('pi', [1_000, 4_000, 7_000, 2_000], { 3: 'compaction' }),
    trace('palimpsest', [1_000, 4_000, 3_000, 2_000], { 2: 'edit', 3: 'compaction' }),
  ]
  const lines = printChart({ session: 'a\u001B[31m.jsonl', steps: 4, traces }, WINDOW, {
    columns: 80,
    colours: false,
  })
  expect(lines).toEqual([
    String.raw`Size of each request: a\x1b[31m.jsonl, 4 steps`,
    '          8K',
    'palimpsest',
    '',
    '              █▂',
    '              ██▄',
    '           0 ▆███',
    '               ·▲ 1· 1▲',
    '             · edit   ▲ compaction',
    '',
    '             one line each: █ is 8K or more, then the peak',
    'none         ▁▄██ 12K',
    'pi           ▁▄▇▂ 7K',
    '                ▲ 1▲',
    '',
  ])
})

test('steps that share a column show the largest of them and the deepest cut', () => {
  const sizes = Array.from({ length: 200 }, (_, step) => (step === 101 ? 8_000 : 1_000))
  const traces = [trace('palimpsest', sizes, { 100: 'compaction', 101: 'edit' }), trace('pi', sizes)]
  const lines = printChart({ session: 's', steps: 200, traces }, WINDOW, { columns: 60, colours: false })
  expect(
    Math.max(...lines.filter((line) => !line.includes('in a line each')).map((line) => line.length)),
  ).toBeLessThanOrEqual(60)
  expect(lines.find((line) => line.startsWith('pi'))).toMatch(/^pi +▁+█▁+ 8K$/)
  expect(lines.join('\n')).toContain('▲ ')
})
