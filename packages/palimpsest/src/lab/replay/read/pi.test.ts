import { expect, test } from 'vitest'

import { readSessionText } from './read-session.ts'
import type { RecordedSession } from './recorded-session.ts'

const START = Date.parse('2026-03-01T10:00:00.000Z')
const SPENT = { input: 7, output: 5, cacheRead: 100, cacheWrite: 20, totalTokens: 132 }

test('calls, results, thinking, images and user commands become blocks; figures keep their meaning', () => {
  const session = read([
    { type: 'session', id: 'p-1' },
    message({ role: 'user', content: 'Look' }),
    message({
      role: 'assistant',
      model: 'm-1',
      usage: SPENT,
      content: [
        { type: 'thinking', thinking: 'Hm', thinkingSignature: 'sig' },
        { type: 'toolCall', id: 'call_1|fc_1', name: 'read', arguments: { path: 'x' } },
      ],
    }),
    message({
      role: 'toolResult',
      toolCallId: 'call_1|fc_1',
      isError: true,
      content: [{ type: 'image', data: 'aGk=', mimeType: 'image/gif' }],
    }),
    message({ role: 'bashExecution', command: 'ls', output: 'a.txt' }),
    message({ role: 'bashExecution', command: 'secret', output: 's', excludeFromContext: true }),
    { type: 'thinking_level_change', thinkingLevel: 'high' },
  ])
  expect(contents(session)).toEqual([
    ['user user', [{ type: 'text', text: 'Look' }]],
    [
      'assistant model',
      [
        { type: 'thinking', thinking: 'Hm', signature: 'sig' },
        { type: 'tool_use', id: 'call_1_fc_1', name: 'read', input: { path: 'x' } },
      ],
    ],
    [
      'user tool',
      [
        {
          type: 'tool_result',
          tool_use_id: 'call_1_fc_1',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/gif', data: 'aGk=' } }],
          is_error: true,
        },
      ],
    ],
    [
      'user tool',
      [
        { type: 'text', text: 'ls' },
        { type: 'text', text: 'a.txt' },
      ],
    ],
  ])
  expect(session.responses).toEqual([
    {
      id: 'line-3',
      model: 'm-1',
      place: 'main',
      requestedAt: START + 2000,
      at: START + 3000,
      endedAt: START + 3000,
      usage: {
        input_tokens: 7,
        output_tokens: 5,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 100,
      },
      entries: ['line-3'],
    },
  ])
  expect(session.account).toMatchObject({
    used: 5,
    ignored: { 'message:bashExecution kept from the model': 1, thinking_level_change: 1 },
  })
})

test('a compaction names its kept lines by position, or by id if lines have ids', () => {
  const session = read([
    { type: 'session', id: 'p-1' },
    message({ role: 'user', content: 'Old' }),
    message({ role: 'user', content: 'Kept' }),
    { type: 'compaction', summary: 'Old things.', firstKeptEntryIndex: 2, tokensBefore: 900 },
    message({ role: 'user', content: 'New' }),
  ])
  expect(session.entries.map((entry) => entry.id)).toEqual([
    'line-2',
    'line-3',
    'line-4-boundary',
    'line-4',
    'line-5',
  ])
  expect(session.entries[2]).toMatchObject({
    kind: 'boundary',
    summary: ['line-4'],
    kept: { head: 'line-3', tail: 'line-3', anchor: 'line-4' },
    meta: { preTokens: 900 },
  })
  const named = read([
    { type: 'session', id: 'p-1', version: 3 },
    { ...message({ role: 'user', content: 'Old' }), id: 'e1', parentId: null },
    { ...message({ role: 'user', content: 'Kept' }), id: 'e2', parentId: 'e1' },
    { type: 'compaction', id: 'e3', parentId: 'e2', summary: 'S', firstKeptEntryId: 'e2', tokensBefore: 9 },
    { ...message({ role: 'user', content: 'New' }), id: 'e4', parentId: 'e3' },
  ])
  expect(named.entries.map((entry) => entry.id)).toEqual(['e1', 'e2', 'e3-boundary', 'e3', 'e4'])
  expect(named.entries[2]).toMatchObject({ kept: { head: 'e2', tail: 'e2' } })
})

test('in the tree form an abandoned branch is separate', () => {
  const session = read([
    { type: 'session', id: 'p-1', version: 3 },
    { ...message({ role: 'user', content: 'A' }), id: 'e1', parentId: null },
    { ...message({ role: 'user', content: 'wrong' }), id: 'e2', parentId: 'e1' },
    { type: 'branch_summary', id: 'e3', parentId: 'e1', summary: 'Tried, left.', fromId: 'e2' },
    { ...message({ role: 'user', content: 'right' }), id: 'e4', parentId: 'e3' },
  ])
  expect(session.entries.map((entry) => entry.id)).toEqual(['e1', 'e3', 'e4'])
  expect(session.branches.map(({ from, entries }) => [from, entries.map((entry) => entry.id)])).toEqual([
    ['e1', ['e2']],
  ])
})

function read(records: readonly object[]): RecordedSession {
  return readSessionText(
    records
      .map((record, index) => ({ timestamp: new Date(START + 1000 * (index + 1)).toISOString(), ...record }))
      .map((record) => JSON.stringify(record))
      .join('\n'),
  )
}

function message(value: object): object {
  return { type: 'message', message: value }
}

function contents(session: RecordedSession): unknown[] {
  return session.entries.flatMap((entry) =>
    entry.kind === 'message' ? [[`${entry.message.role} ${entry.origin}`, entry.message.content]] : [],
  )
}
