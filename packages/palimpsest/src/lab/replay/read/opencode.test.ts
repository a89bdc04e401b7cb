import { expect, test } from 'vitest'

import { readSessionText } from './read-session.ts'
import type { RecordedSession } from './recorded-session.ts'

test('call and result are in one part, so even redacted and repeated ids form pairs', () => {
  const session = read([
    said('user', [{ type: 'text', text: 'Look twice' }]),
    said(
      'assistant',
      [
        { type: 'step-start' },
        { type: 'reasoning', text: 'Hm', metadata: { anthropic: { signature: 'sig' } } },
        tool('REDACTED', { status: 'completed', input: { path: 'a' }, output: 'A' }),
        tool('REDACTED', { status: 'error', input: { path: 'b' }, error: 'not found' }),
        tool('c1', { status: 'completed', input: {}, output: 'C', time: { compacted: 77 } }),
        tool('c1', {
          status: 'completed',
          input: {},
          output: 'D',
          attachments: [{ mime: 'image/png', url: 'data:image/png;base64,aGk=' }],
        }),
        tool('c2', { status: 'running', input: {} }),
        { type: 'step-finish', tokens: { input: 5, output: 6, reasoning: 2, cache: { read: 7, write: 8 } } },
      ],
      { modelID: 'm-1', tokens: { input: 0, output: 0 }, time: { created: 1000, completed: 2000 } },
    ),
  ])
  expect(session.entries.map((entry) => entry.kind === 'message' && entry.message.content)).toEqual([
    [{ type: 'text', text: 'Look twice' }],
    [
      { type: 'thinking', thinking: 'Hm', signature: 'sig' },
      { type: 'tool_use', id: 'call_1', name: 'read', input: { path: 'a' } },
      { type: 'tool_use', id: 'call_2', name: 'read', input: { path: 'b' } },
      { type: 'tool_use', id: 'c1', name: 'read', input: {} },
      { type: 'tool_use', id: 'call_4', name: 'read', input: {} },
      { type: 'tool_use', id: 'c2', name: 'read', input: {} },
    ],
    [
      { type: 'tool_result', tool_use_id: 'call_1', content: 'A' },
      { type: 'tool_result', tool_use_id: 'call_2', content: 'not found', is_error: true },
      { type: 'tool_result', tool_use_id: 'c1', content: 'C' },
      {
        type: 'tool_result',
        tool_use_id: 'call_4',
        content: [
          { type: 'text', text: 'D' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
        ],
      },
    ],
  ])
  expect(session.unanswered).toEqual([{ entry: 'message-2-1', toolUseId: 'c2', name: 'read' }])
  expect(session.clearings).toEqual([{ at: 77, toolUseIds: ['c1'] }])
  expect(session.responses.map(({ id, usage }) => [id, usage])).toEqual([
    [
      'message-2-1',
      {
        input_tokens: 5,
        output_tokens: 6,
        cache_creation_input_tokens: 8,
        cache_read_input_tokens: 7,
        output_tokens_details: { thinking_tokens: 2 },
      },
    ],
  ])
  expect(session.account).toEqual({
    total: 11,
    blank: 0,
    used: 10,
    repeated: {},
    ignored: { 'part:step-start': 1 },
    reported: 0,
  })
})

test('a message with several steps is several responses, each with its own results', () => {
  const session = read([
    said('assistant', [
      { type: 'step-start' },
      tool('c1', { status: 'completed', input: {}, output: 'one' }),
      { type: 'step-start' },
      { type: 'text', text: 'Done.' },
    ]),
  ])
  expect(session.entries.map((entry) => entry.id)).toEqual([
    'message-1-1',
    'message-1-1-results',
    'message-1-2',
  ])
  expect(session.responses.map(({ id }) => id)).toEqual(['message-1-1', 'message-1-2'])
})

test('a summary is a boundary', () => {
  const session = read([
    said('user', [{ type: 'text', text: 'Work' }]),
    said('user', [{ type: 'compaction', auto: true }]),
    said('assistant', [{ type: 'text', text: 'So far: work.' }], { summary: true }),
    said('user', [{ type: 'text', text: 'More' }]),
  ])
  expect(session.entries.map((entry) => entry.id)).toEqual([
    'message-1',
    'message-2',
    'message-3',
    'message-3-summary',
    'message-4',
  ])
  expect(session.entries[2]).toMatchObject({ kind: 'boundary', summary: ['message-3-summary'] })
})

test('a torn document is one problem', () => {
  const text = JSON.stringify({ info: { id: 'o-1' }, messages: [] }, null, 2).slice(0, -3)
  const session = readSessionText(text)
  expect(session).toMatchObject({ format: 'opencode', entries: [] })
  expect(session.problems).toEqual([
    { line: 0, what: 'the document is not whole JSON (torn, or not one export)' },
  ])
})

function read(messages: readonly object[]): RecordedSession {
  return readSessionText(JSON.stringify({ info: { id: 'o-1' }, messages }, null, 2))
}

function said(role: string, parts: readonly object[], info: object = {}): object {
  return { info: { role, time: { created: 1000 }, id: 'REDACTED', ...info }, parts }
}

function tool(callID: string, state: object): object {
  return { type: 'tool', callID, tool: 'read', state }
}
