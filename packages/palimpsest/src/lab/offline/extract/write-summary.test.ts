import { describe, expect, test } from 'vitest'

import type { Block, WireMessage } from '../../../wire/message.ts'
import { requestedForm } from './requested-form.ts'
import { sessionFacts } from './session-facts.ts'
import { findMemories, writeMemories } from './write-memories.ts'
import { writeNotes } from './write-notes.ts'
import { writeSummary } from './write-summary.ts'

let ids = 0

/** A call and its answer. */
function call(
  name: string,
  input: { readonly [key: string]: unknown },
  text: string,
  isError = false,
): WireMessage[] {
  const id = `t${++ids}`
  const use = { type: 'tool_use', id, name, input } as Block
  const result = {
    type: 'tool_result',
    tool_use_id: id,
    content: text,
    ...(isError ? { is_error: true } : {}),
  }
  return [
    { role: 'assistant', content: [use] },
    { role: 'user', content: [result] },
  ]
}

const TODOS = [
  { content: 'Write the parser', status: 'completed' },
  { content: 'Write its tests', status: 'in_progress' },
  { content: 'Document it', status: 'pending' },
]

const SESSION: WireMessage[] = [
  { role: 'user', content: '<environment>\nDate: 2026-01-01\n</environment>' },
  {
    role: 'user',
    content: 'Write a parser in src/parse.ts. Never use regular expressions. I am new to TypeScript.',
  },
  ...call('Read', { file_path: 'src/lex.ts' }, '     1\texport function nextToken() {'),
  ...call('Write', { file_path: 'src/parse.ts', content: 'export function parseAll() {}' }, 'Written.'),
  ...call('Bash', { command: 'npm test' }, '1 failed\nError: expected 3\n[exit code 1]', true),
  ...call('Edit', { file_path: 'src/parse.ts', old_string: '{}', new_string: '{ nextToken() }' }, 'Edited.'),
  ...call('Bash', { command: 'npm test' }, 'ok'),
  ...call('Bash', { command: 'npm run lint' }, 'src/parse.ts: error: unused\n[exit code 2]', true),
  ...call('TodoWrite', { todos: TODOS }, 'Noted.'),
  ...call('Read', { file_path: 'src/parse.ts' }, '     1\texport function parseAll() { nextToken() }'),
  { role: 'assistant', content: 'parseAll calls nextToken now. The tests pass.' },
  { role: 'user', content: 'Good. The release is frozen until Friday; see https://wiki.example/release.' },
]
const FACTS = sessionFacts(SESSION)

describe('what a session reveals without understanding it', () => {
  test('the user’s words, without context that nobody typed', () => {
    expect(FACTS.requests).toEqual([
      'Write a parser in src/parse.ts. Never use regular expressions. I am new to TypeScript.',
      'Good. The release is frozen until Friday; see https://wiki.example/release.',
    ])
  })

  test('files with the last operation on each: a changed file stays changed', () => {
    expect(FACTS.files).toEqual([
      { path: 'src/lex.ts', operation: 'read' },
      { path: 'src/parse.ts', operation: 'edited', snippet: '{ nextToken() }' },
    ])
  })

  test('commands with their exit codes', () => {
    expect(FACTS.commands).toEqual([
      { command: 'npm test', outcome: 'exit 1' },
      { command: 'npm test', outcome: 'exit 0' },
      { command: 'npm run lint', outcome: 'exit 2' },
    ])
  })

  test('errors, and whether the same command succeeded later', () => {
    expect(FACTS.errors).toEqual([
      { text: 'Error: expected 3', during: 'Bash npm test', isResolved: true },
      { text: 'src/parse.ts: error: unused', during: 'Bash npm run lint', isResolved: false },
    ])
  })

  test('the newest to-do list, and the last text of each turn', () => {
    expect(FACTS.todos.map(({ text, status }) => `${status} ${text}`)).toEqual([
      'completed Write the parser',
      'in_progress Write its tests',
      'pending Document it',
    ])
    expect(FACTS.answers).toEqual(['parseAll calls nextToken now. The tests pass.'])
  })
})

test('a summary has nine sections and contains what a proof looks for', () => {
  const summary = writeSummary(FACTS)
  expect(summary.match(/^\d\. .*:$/gm)).toEqual([
    '1. Primary request and intent:',
    '2. Key concepts:',
    '3. Files and code:',
    '4. Errors and fixes:',
    '5. Problem solving:',
    '6. All user messages:',
    '7. Pending tasks:',
    '8. Current work:',
    '9. Next step:',
  ])
  for (const words of FACTS.requests) expect(summary).toContain(words)
  expect(summary).toContain('- edited src/parse.ts\n')
  expect(summary).toContain('Unresolved, during `Bash npm run lint`')
  expect(summary).toContain('[pending] Document it')
  expect(summary).toContain('`npm run lint` → exit 2')
})

test('a summary stays within the given length, and drops the user’s words last', () => {
  const long = sessionFacts([
    ...Array.from({ length: 40 }, (_, i): WireMessage => ({
      role: 'user',
      content: `Request ${i}: make part ${i} work.`,
    })),
    ...Array.from({ length: 60 }, (_, i) =>
      call('Write', { file_path: `src/part-${i}.ts`, content: 'x'.repeat(400) }, 'ok'),
    ).flat(),
    { role: 'assistant', content: 'y'.repeat(5_000) },
  ])
  for (const charsMax of [3_000, 6_000, 20_000])
    expect(writeSummary(long, charsMax).length).toBeLessThanOrEqual(charsMax)
  const summary = writeSummary(long, 6_000)
  for (const words of long.requests) expect(summary).toContain(words)
  for (const { path } of long.files) expect(summary).toContain(path.slice('src/'.length))
})

test('notes keep the headings of the requested template', () => {
  const asked = 'Update the notes.\n\n# Session Title\n_A short title_\n\n# Worklog\n_Step by step_\n'
  expect(writeNotes(asked, FACTS)).toBe(
    [
      '# Session Title',
      '_A short title_',
      '',
      'Write a parser in src/parse.ts. Never use regular expressions. I am new to TypeS…',
      '',
      '# Worklog',
      '_Step by step_',
      '',
      '- Asked: Write a parser in src/parse.ts. Never use regular expressions. I am new to TypeScript.',
      '- Asked: Good. The release is frozen until Friday; see https://wiki.example/release.',
      '- Answered: parseAll calls nextToken now. The tests pass.',
    ].join('\n'),
  )
  expect(writeNotes('Write notes.', FACTS).match(/^# .*$/gm)).toHaveLength(10)
})

test('memories are the user’s own words, by type, and contain no secrets', () => {
  expect(findMemories(FACTS).map(({ type, text }) => [type, text])).toEqual([
    ['feedback', 'Never use regular expressions.'],
    ['user', 'I am new to TypeScript.'],
    ['reference', 'The release is frozen until Friday; see https://wiki.example/release.'],
  ])
  expect(writeMemories(FACTS)).toContain('---\nname: never-use-regular-expressions\n')
  const secret = sessionFacts([{ role: 'user', content: 'Always use password: hunter2 here.' }])
  expect(findMemories(secret)).toEqual([])
})

test.each([
  ['Sections: session title, current state, task specification, workflow, learnings, worklog.', 'notes'],
  ['Write memories of the types user, feedback, project and reference.', 'memories'],
  ['Answer with <analysis> and <summary>.', 'summary'],
  ['How does the user write memory files?', undefined],
  ['Where is the summary of a conversation read?', undefined],
  ['In which order do summary and kept messages stand?', undefined],
  ['Could you summarize this session?', 'summary'],
])('%s → %s', (asked, form) => {
  expect(requestedForm(asked)).toBe(form)
})
