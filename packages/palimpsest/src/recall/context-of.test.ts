import { expect, test } from 'vitest'

import { contextOf } from './context-of.ts'

test('the current task is the last call, the inputs of calls, names in results, and the last text', () => {
  expect(
    contextOf([
      { type: 'text', text: 'Why does the heron fly so low?' },
      { type: 'tool_use', id: 'a', name: 'Read', input: { file_path: 'src/heron.ts' } },
      { type: 'tool_result', tool_use_id: 'a', content: 'const wingSpan = 2' },
      { type: 'text', text: '<system-reminder>be brief</system-reminder>' },
      { type: 'tool_use', id: 'b', name: 'Recall', input: { query: 'span' } },
    ]),
  ).toEqual([
    { words: 'src/heron.ts', weight: 0.5 },
    { words: 'src/heron.ts', weight: 0.5 },
    { words: 'wingSpan', weight: 0.4 },
    { words: 'Why does the heron fly so low?', weight: 0.3 },
  ])
})

test('without any history there is no current task', () => {
  expect(contextOf([])).toEqual([])
})
