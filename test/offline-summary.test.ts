import { expect, test } from 'vitest'

import { NO_FACTS } from '../packages/palimpsest/src/facts/facts.ts'
import { continuationText } from '../packages/palimpsest/src/layers/4-compaction/summary/continuation.ts'
import { summaryPrompt } from '../packages/palimpsest/src/layers/4-compaction/summary/prompt.ts'
import { prove } from '../packages/palimpsest/src/layers/4-compaction/proof/prove.ts'
import { readSummary } from '../packages/palimpsest/src/layers/4-compaction/summary/read-summary.ts'
import { writeForm } from '../packages/palimpsest/src/lab/offline/answer-offline.ts'
import { sessionFacts } from '../packages/palimpsest/src/lab/offline/extract/session-facts.ts'
import { summarizeOffline } from '../packages/palimpsest/src/lab/offline/summarize-offline.ts'
import type { WireMessage } from '../packages/palimpsest/src/wire/message.ts'
import { said } from './kit/said.ts'

// The offline model as the summariser of a compaction: it answers our prompt, and goes on from our summaries.

function messagesOf(spoken: Parameters<typeof said>[0]): WireMessage[] {
  return said(spoken).flatMap((entry) => (entry.kind === 'message' ? [entry.message] : []))
}

const SESSION = messagesOf([
  { user: 'Write a parser in src/parse.ts. Never use regular expressions.' },
  {
    call: 'Write',
    input: { file_path: 'src/parse.ts', content: 'export function parseAll() {}' },
    result: 'Written.',
  },
  { call: 'Edit', input: { file_path: 'src/parse.ts', old_string: 'a', new_string: 'b' }, result: 'Edited.' },
  {
    call: 'Bash',
    input: { command: 'npm run lint' },
    result: 'src/parse.ts: error: unused\n[exit code 2]',
    error: true,
  },
  {
    call: 'TodoWrite',
    input: {
      todos: [
        { content: 'Write the parser', status: 'completed' },
        { content: 'Write its tests', status: 'in_progress' },
        { content: 'Document it', status: 'pending' },
      ],
    },
    result: 'Noted.',
  },
  { model: 'parseAll is there.' },
  { user: 'Good. The release is frozen until Friday.' },
])

test('a second summary includes what the first one lists', () => {
  const first = continuationText({
    mode: 'automatic',
    summary: summarizeOffline(SESSION),
    place: 'before',
    stays: 'none',
  })
  const again = sessionFacts([
    { role: 'user', content: first },
    ...messagesOf([
      {
        call: 'Edit',
        input: { file_path: 'src/lex.ts', old_string: 'a', new_string: 'b' },
        result: 'Edited.',
      },
      { user: 'Go on.' },
    ]),
  ])
  expect(again.requests).toEqual([...sessionFacts(SESSION).requests, 'Go on.'])
  expect(again.files.map(({ path, operation }) => `${operation} ${path}`)).toEqual([
    'edited src/parse.ts',
    'edited src/lex.ts',
  ])
  expect(again.errors).toMatchObject([{ text: 'src/parse.ts: error: unused', isResolved: false }])
  expect(again.todos.map(({ text }) => text)).toEqual(['Write its tests', 'Document it'])
})

test('what a proof appended is included too', () => {
  const facts = {
    ...NO_FACTS,
    words: [{ entry: 'a', text: 'Fix the\nlogin page' }],
    files: [
      { path: '/p/src/a.ts', operation: 'edited', touched: 2 },
      { path: '/p/src/b.ts', operation: 'deleted', touched: 1 },
    ],
    todos: [{ text: 'write tests', state: 'open' }],
  } as const
  const { text } = prove({ summary: 'Nothing.', facts, visible: '', budgetChars: 9_000 })
  const summary = continuationText({ mode: 'manual', summary: text, place: 'before', stays: 'none' })
  const again = sessionFacts([{ role: 'user', content: summary }])
  expect(again.requests).toEqual(['Fix the\nlogin page'])
  expect(again.files).toEqual([
    { path: '/p/src/b.ts', operation: 'deleted' },
    { path: '/p/src/a.ts', operation: 'edited' },
  ])
  expect(again.todos).toEqual([{ text: 'write tests', status: 'open' }])
})

test.each(['whole', 'from', 'up_to'] as const)(
  'the prompt of a compaction (%s) is answered with a summary no longer than it allows',
  (kind) => {
    const charsMax = 1_500
    const asked: WireMessage = {
      role: 'user',
      content: summaryPrompt({ kind, charsMax, instructions: 'Keep the memory of it.' }),
    }
    const { text, cut } = readSummary(writeForm([...SESSION, asked]) ?? '')
    expect(cut).toBe(false)
    expect(text.length).toBeLessThanOrEqual(charsMax)
    expect(text).toContain('Write a parser in src/parse.ts.')
  },
)
