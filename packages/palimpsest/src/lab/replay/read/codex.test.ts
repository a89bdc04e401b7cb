import { expect, test } from 'vitest'

import { readSessionText } from './read-session.ts'
import type { RecordedSession } from './recorded-session.ts'

const START = Date.parse('2026-03-01T10:00:00.000Z')

test('calls and outputs become pairs, the items of one response become one response, and input excludes what was cached', () => {
  const session = read([
    meta(),
    context('gpt-test'),
    item({ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Rules' }] }),
    typed('Sort the list'),
    event({ type: 'user_message', message: 'Sort the list' }),
    item({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Think' }], encrypted_content: 'sig' }),
    event({ type: 'agent_message', message: 'I sort.' }),
    item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I sort.' }] }),
    item({ type: 'function_call', name: 'shell', arguments: '{"cmd":"sort"}', call_id: 'call_1' }),
    item({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin', call_id: 'call_2' }),
    item({ type: 'function_call_output', call_id: 'call_1', output: 'a b c' }),
    item({ type: 'custom_tool_call_output', call_id: 'call_2', output: 'ok' }),
    count({ input_tokens: 1000, cached_input_tokens: 900, output_tokens: 50, total_tokens: 1050 }, 1),
  ])
  expect(contents(session)).toEqual([
    ['user engine', [{ type: 'text', text: 'Rules' }]],
    ['user user', [{ type: 'text', text: 'Sort the list' }]],
    ['assistant model', [{ type: 'thinking', thinking: 'Think', signature: 'sig' }]],
    ['assistant model', [{ type: 'text', text: 'I sort.' }]],
    ['assistant model', [{ type: 'tool_use', id: 'call_1', name: 'shell', input: { cmd: 'sort' } }]],
    [
      'assistant model',
      [{ type: 'tool_use', id: 'call_2', name: 'apply_patch', input: { input: '*** Begin' } }],
    ],
    ['user tool', [{ type: 'tool_result', tool_use_id: 'call_1', content: 'a b c' }]],
    ['user tool', [{ type: 'tool_result', tool_use_id: 'call_2', content: 'ok' }]],
  ])
  expect(session.responses).toEqual([
    {
      id: 'response-6',
      model: 'gpt-test',
      place: 'main',
      requestedAt: START + 4000,
      at: START + 6000,
      endedAt: START + 10_000,
      usage: {
        input_tokens: 100,
        output_tokens: 50,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 900,
      },
      entries: ['line-6', 'line-8', 'line-9', 'line-10'],
    },
  ])
  expect(session).toMatchObject({ sessionId: 'c-1', system: 'You sort.', models: ['gpt-test'], problems: [] })
  expect(session.account).toEqual({
    total: 13,
    blank: 0,
    used: 11,
    repeated: { 'event_msg:user_message': 1, 'event_msg:agent_message': 1 },
    ignored: {},
    reported: 0,
  })
})

test('a compaction is a boundary whose summary is the history that it continued with', () => {
  const session = read([
    meta(),
    typed('One'),
    item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes.' }] }),
    count({ input_tokens: 200_000, cached_input_tokens: 0, output_tokens: 10, total_tokens: 200_010 }, 1),
    line('compacted', {
      message: '',
      replacement_history: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'One' }] },
        { type: 'compaction', encrypted_content: 'sealed' },
      ],
    }),
    count({ input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, total_tokens: 9000 }, 1),
    typed('Two'),
  ])
  expect(session.entries.map((entry) => entry.kind)).toEqual([
    'message',
    'message',
    'boundary',
    'message',
    'message',
  ])
  expect(session.entries[2]).toMatchObject({
    summary: ['line-5-0'],
    logicalParent: 'line-3',
    meta: { preTokens: 200_010, postTokens: 9000, extra: { unreadable: ['compaction'] } },
  })
  expect(session.responses).toHaveLength(1)
  expect(session.account.repeated).toEqual({ 'event_msg:token_count': 1 })
})

test('an interrupted response has no usage, and its call is unanswered', () => {
  const session = read([
    typed('Go'),
    item({ type: 'function_call', name: 'shell', arguments: 'not json', call_id: 'call/1' }),
    event({ type: 'turn_aborted', reason: 'interrupted' }),
    typed('Again'),
    item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Now.' }] }),
    count({ input_tokens: 10, cached_input_tokens: 0, output_tokens: 1, total_tokens: 11 }, 1),
  ])
  expect(session.unanswered).toEqual([{ entry: 'line-2', toolUseId: 'call_1', name: 'shell' }])
  expect(session.responses.map(({ id, usage }) => [id, usage?.input_tokens])).toEqual([
    ['response-2', undefined],
    ['response-5', 10],
  ])
  expect(contents(session)[1]).toEqual([
    'assistant model',
    [{ type: 'tool_use', id: 'call_1', name: 'shell', input: { arguments: 'not json' } }],
  ])
})

test('a search by the provider is a server tool with an empty result, images keep their data, and empty thinking is counted', () => {
  const session = read([
    item({
      type: 'message',
      role: 'user',
      content: [{ type: 'input_image', image_url: 'data:image/png;base64,aGk=' }],
    }),
    item({ type: 'reasoning', summary: [] }),
    item({ type: 'web_search_call', action: { type: 'search', query: 'pears' } }),
    item({ type: 'ghost_snapshot' }),
  ])
  expect(contents(session)).toEqual([
    ['user user', [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }]],
    [
      'assistant model',
      [
        {
          type: 'server_tool_use',
          id: 'srvtoolu_line_3',
          name: 'web_search',
          input: { type: 'search', query: 'pears' },
        },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_line_3', content: [] },
      ],
    ],
  ])
  expect(session.account.ignored).toEqual({
    'response_item:reasoning (empty)': 1,
    'response_item:ghost_snapshot': 1,
  })
})

test('an answer whose stream broke off and was resumed is one response', () => {
  const session = read([
    typed('Go'),
    count({ input_tokens: 10, cached_input_tokens: 0, output_tokens: 1, total_tokens: 11 }, 1),
    item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I will' }] }),
    count({ input_tokens: 10, cached_input_tokens: 0, output_tokens: 1, total_tokens: 11 }, 1),
    item({ type: 'function_call', name: 'shell', arguments: '{}', call_id: 'call_1' }),
    count({ input_tokens: 20, cached_input_tokens: 0, output_tokens: 2, total_tokens: 22 }, 2),
  ])
  expect(session.responses.map(({ id, entries, usage }) => [id, entries, usage?.input_tokens])).toEqual([
    ['response-3', ['line-3', 'line-5'], 20],
  ])
})

test('tokens counted without any recorded content are reported', () => {
  const session = read([
    meta(),
    count({ input_tokens: 5, cached_input_tokens: 0, output_tokens: 1, total_tokens: 6 }, 1),
  ])
  expect(session.problems).toEqual([{ line: 2, what: 'tokens of a response of which nothing is recorded' }])
})

function read(lines: readonly string[]): RecordedSession {
  const timed = lines.map((text, index) =>
    text.replace('AT', new Date(START + 1000 * (index + 1)).toISOString()),
  )
  return readSessionText(timed.join('\n'))
}

function line(type: string, payload: object): string {
  return JSON.stringify({ timestamp: 'AT', type, payload })
}

function item(payload: object): string {
  return line('response_item', payload)
}

function event(payload: object): string {
  return line('event_msg', payload)
}

function meta(): string {
  return line('session_meta', { id: 'c-1', base_instructions: { text: 'You sort.' } })
}

function context(model: string): string {
  return line('turn_context', { model })
}

function typed(text: string): string {
  return item({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
}

function count(last_token_usage: object, total: number): string {
  return event({
    type: 'token_count',
    info: { last_token_usage, total_token_usage: { total_tokens: total } },
  })
}

function contents(session: RecordedSession): unknown[] {
  return session.entries.flatMap((entry) =>
    entry.kind === 'message' ? [[`${entry.message.role} ${entry.origin}`, entry.message.content]] : [],
  )
}
