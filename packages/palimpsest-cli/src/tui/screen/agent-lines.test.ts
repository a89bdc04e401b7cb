import { expect, test } from 'vitest'

import type { BackgroundTask } from '../../tasks/background-task.ts'
import { lineText } from '../text/styled-line.ts'
import { textWidth } from '../text/text-width.ts'
import { agentLines } from './agent-lines.ts'

function task(id: string, parent: string | undefined, more: Partial<BackgroundTask> = {}): BackgroundTask {
  const status = { text: 'Reading a.txt', toolCount: 1, files: [], turns: [], startedAt: 0 }
  return {
    id,
    kind: 'agent',
    title: 'agent search',
    status: () => ({ ...status, state: 'starting' }),
    kill: () => undefined,
    ended: Promise.resolve(),
    agent: {
      parent,
      type: 'search',
      description: `task ${id}`,
      isBackground: () => id === 'b',
      spent: () => ({ tokens: 12_345, costUsd: 0.0123 }),
    },
    ...more,
  }
}

const shown = (tasks: readonly BackgroundTask[], columns = 80): readonly string[] =>
  agentLines(tasks.toReversed(), columns).map(lineText)

test('working agents are listed one below the other, each below the one that started it', () => {
  const ended = { text: '', toolCount: 0, files: [], turns: [], startedAt: 0, state: 'completed' as const }
  const all = [task('a', undefined), task('a1', 'a'), task('a2', 'a'), task('b', undefined)]
  expect(shown([...all, task('c', undefined, { status: () => ended })])).toEqual([
    '├ search: task a · Reading a.txt · 12.3k tokens · $0.0123',
    '│ ├ search: task a1 · Reading a.txt · 12.3k tokens · $0.0123',
    '│ └ search: task a2 · Reading a.txt · 12.3k tokens · $0.0123',
    '└ search: task b · Reading a.txt · background · 12.3k tokens · $0.0123',
  ])
  expect(shown([])).toEqual([])
  // Whose parent has ended stands alone.
  expect(shown([task('x', 'gone')])).toHaveLength(1)
})

test('sixteen of them take eight rows, none wider than the screen, the figures whole', () => {
  const many = Array.from({ length: 16 }, (_, place) => task(`n${place} ${'long '.repeat(20)}`, undefined))
  const rows = shown(many, 60)
  expect(rows).toHaveLength(8)
  expect(rows.at(-1)).toBe('  and 9 more: /tasks lists them')
  expect(rows.filter((row) => textWidth(row) > 60)).toEqual([])
  expect(rows[0]).toMatch(/12\.3k tokens · \$0\.0123$/)
})
