import { expect, test } from 'vitest'

import type { DearestOfAll } from '../replay-document.ts'
import { printDearest } from './print-dearest.ts'

const OPTIONS = { columns: 80, colours: false }

function dearest(strategy: string, dollars: number, step = 6): DearestOfAll {
  return {
    strategy,
    window: 200_000,
    session: 's.jsonl',
    dollars,
    medianDollars: 0.1,
    request: {
      step,
      promptTokens: 90_000,
      act: 'none',
      readTokens: 1_000,
      writtenTokens: 81_200,
      uncachedTokens: 0,
      outputTokens: 900,
      explanation: { kind: 'hit', path: '' },
      idleMs: 0,
      dollars,
      callDollars: 0,
    },
  }
}

test('ours has a sentence of its own beside the dearest of all; what is as unmanaged is said once', () => {
  const all = [
    dearest('none', 1),
    dearest('batch', 1),
    dearest('pi', 2, 8),
    dearest('codex', 1),
    dearest('palimpsest', 1),
  ]
  const lines = printDearest(all, OPTIONS)
  const text = lines.join('\n')
  expect(text).toContain('The most expensive of all: pi, step 9 of s.jsonl: $2.00, 20 times')
  expect(text).toContain('The most expensive of palimpsest: palimpsest, step 7 of s.jsonl: $1.00, 10 times')
  expect(lines).toContain('as none: batch, codex')
  expect(lines.filter((line) => line.startsWith('palimpsest '))).toHaveLength(1)
  expect(lines.filter((line) => line.startsWith('batch '))).toHaveLength(0)
})

test('where ours is the dearest of all, one sentence says so', () => {
  const text = printDearest([dearest('none', 1), dearest('pi', 2), dearest('palimpsest', 3)], OPTIONS).join(
    '\n',
  )
  expect(text).toContain('The most expensive of all: palimpsest, step 7')
  expect(text).not.toContain('The most expensive of palimpsest')
  expect(text).not.toContain('as none')
})
