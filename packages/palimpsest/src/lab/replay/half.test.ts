import { expect, test } from 'vitest'
import { half } from './half.ts'

test('a file stays in its half whatever folder it is in', () => {
  expect(half('codex/agentv/00-34f597b72d-1.jsonl')).toBe(half('00-34f597b72d-1.jsonl'))
})

test('names are split about evenly between the halves', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `session-${index}.jsonl`)
  const tuning = names.filter((name) => half(name) === 'tuning').length
  expect(tuning).toBeGreaterThan(400)
  expect(tuning).toBeLessThan(600)
})

test('the halves are the ones that the published figures are based on', () => {
  for (const project of ['cli', 'context-evaluator', 'git-sync', 'repiq'])
    expect(half(project)).toBe('tuning')
  for (const project of ['mise', 'orpheus', 'pi-mono', 'safo']) expect(half(project)).toBe('held-out')
  // By file, what was fitted earlier.
  expect(half('8e-a9e4a4e751-0.jsonl')).toBe('tuning')
  expect(half('before-compaction.jsonl')).toBe('held-out')
})
