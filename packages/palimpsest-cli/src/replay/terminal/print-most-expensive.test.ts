import { expect, test } from 'vitest'

import { TRACED_REQUEST } from '../../../../../test/kit/traced-request.ts'
import type { MostExpensiveOfAll } from '../replay-document.ts'
import { printMostExpensive } from './print-most-expensive.ts'

const OPTIONS = { columns: 80, colours: false }

function mostExpensive(strategy: string, dollars: number, step = 6): MostExpensiveOfAll {
  return {
    strategy,
    window: 200_000,
    session: 's.jsonl',
    dollars,
    medianDollars: 0.1,
    request: { ...TRACED_REQUEST, step, dollars },
  }
}

test('ours has its own sentence next to the most expensive of all; strategies equal to the unmanaged one share a line', () => {
  const all = [
    mostExpensive('none', 1),
    mostExpensive('batch', 1),
    mostExpensive('pi', 2, 8),
    mostExpensive('codex', 1),
    mostExpensive('palimpsest', 1),
  ]
  const lines = printMostExpensive(all, OPTIONS)
  const text = lines.join('\n')
  expect(text).toContain('The most expensive of all: pi, step 9 of s.jsonl: $2.00, 20 times')
  expect(text).toContain('The most expensive of palimpsest: palimpsest, step 7 of s.jsonl: $1.00, 10 times')
  expect(lines).toContain('as none: batch, codex')
  expect(lines.filter((line) => line.startsWith('palimpsest '))).toHaveLength(1)
  expect(lines.filter((line) => line.startsWith('batch '))).toHaveLength(0)
})

test('where ours is the most expensive of all, one sentence says so', () => {
  const text = printMostExpensive(
    [mostExpensive('none', 1), mostExpensive('pi', 2), mostExpensive('palimpsest', 3)],
    OPTIONS,
  ).join('\n')
  expect(text).toContain('The most expensive of all: palimpsest, step 7')
  expect(text).not.toContain('The most expensive of palimpsest')
  expect(text).not.toContain('as none')
})
