import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { BLOCK_TYPES } from './message.ts'
import {
  parseErrorBody,
  parseMessage,
  parseRequest,
  parseResponse,
  parseStreamEvent,
  type Parsed,
} from './parse.ts'
import { problemText } from './shape.ts'

const REQUEST = {
  model: 'claude-sonnet-5-5',
  max_tokens: 100,
  messages: [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'x' }] }],
    },
  ],
}

const RESPONSE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-5-5',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1, cache_read_input_tokens: null },
}

describe('valid data is returned as the same object', () => {
  test.each([
    ['a request', parseRequest, REQUEST],
    ['a response', parseResponse, RESPONSE],
    ['a message', parseMessage, REQUEST.messages[2]],
    [
      'an error',
      parseErrorBody,
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    ],
    ['a ping', parseStreamEvent, { type: 'ping' }],
    ['the start of a stream', parseStreamEvent, { type: 'message_start', message: RESPONSE }],
    [
      'a delta',
      parseStreamEvent,
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'H' } },
    ],
    [
      'the end of an answer',
      parseStreamEvent,
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 9, input_tokens: null },
      },
    ],
  ] as const)('%s', (_, parse: (value: unknown) => Parsed<unknown>, value) => {
    const result = parse(value)
    expect(result.ok && result.value).toBe(value)
  })
})

describe('newer data than this version knows is kept', () => {
  test('unknown fields and block types, at every depth', () => {
    const value = {
      ...REQUEST,
      new_field: { a: 1 },
      messages: [
        { role: 'user', content: [{ type: 'hologram', data: 7 }], mood: 'calm' },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'hologram' }], extra: 1 }],
        },
      ],
    }
    expect(parseRequest(value)).toEqual({ ok: true, value })
  })

  test('an unknown stop reason', () => {
    expect(parseResponse({ ...RESPONSE, stop_reason: 'tired' }).ok).toBe(true)
  })

  test('an unknown event, and an event with an unknown delta, are set apart as a whole', () => {
    for (const event of [
      { type: 'weather', sky: 'blue' },
      { type: 'content_block_delta', index: 0, delta: { type: 'hologram_delta', data: 7 } },
    ]) {
      expect(parseStreamEvent(event)).toEqual({ ok: true, value: { type: 'other', event } })
    }
  })
})

describe('invalid data is refused with its place and what is expected there', () => {
  const firstBlock = (block: unknown): unknown => ({
    ...REQUEST,
    messages: [{ role: 'user', content: [block] }],
  })

  test.each([
    [parseRequest, null, 'the value: expected an object, found null'],
    [parseRequest, [], 'the value: expected an object, found an array'],
    [parseRequest, { ...REQUEST, model: undefined }, 'model: expected a string, found nothing'],
    [
      parseRequest,
      { ...REQUEST, max_tokens: 1.5 },
      'max_tokens: expected a whole number, 0 or more, found 1.5',
    ],
    [parseRequest, { ...REQUEST, messages: {} }, 'messages: expected an array, found an object'],
    [
      parseRequest,
      { ...REQUEST, messages: [{ role: 'tool', content: '' }] },
      'messages.0.role: expected "user" or "assistant" or "system", found "tool"',
    ],
    [parseRequest, firstBlock({ text: 'x' }), 'messages.0.content.0.type: expected a string, found nothing'],
    [
      parseRequest,
      firstBlock({ type: 'tool_result', content: 'x' }),
      'messages.0.content.0.tool_use_id: expected a string, found nothing',
    ],
    [
      parseRequest,
      firstBlock({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 3 }] }),
      'messages.0.content.0.content.0.text: expected a string, found 3',
    ],
    [
      parseResponse,
      { ...RESPONSE, usage: { output_tokens: 1 } },
      'usage.input_tokens: expected a whole number, 0 or more, found nothing',
    ],
    [parseResponse, { ...RESPONSE, type: 'x'.repeat(100) }, 'type: expected "message", found a long string'],
    [
      parseStreamEvent,
      { type: 'content_block_stop' },
      'index: expected a whole number, 0 or more, found nothing',
    ],
    [parseStreamEvent, 'ping', 'the value: expected an object, found "ping"'],
    [
      parseStreamEvent,
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta' } },
      'delta.text: expected a string, found nothing',
    ],
  ] as const)('%#', (parse: (value: unknown) => Parsed<unknown>, value, text) => {
    const result = parse(value)
    expect(result.ok ? 'accepted' : problemText(result.problem)).toBe(text)
  })

  test('the fields of every known block type are checked: one with only a type is refused', () => {
    const accepted = BLOCK_TYPES.filter((type) => parseRequest(firstBlock({ type })).ok)
    // A compaction that failed has no content.
    expect(accepted).toEqual(['compaction'])
  })
})

test('blocks nested 100,000 deep do not exhaust the stack', () => {
  let content: unknown = 'x'
  for (let depth = 0; depth < 100_000; depth++) content = [{ type: 'tool_result', tool_use_id: 't', content }]
  expect(parseRequest({ ...REQUEST, messages: [{ role: 'user', content }] }).ok).toBe(true)
})

test('no value makes a parser throw', () => {
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true }),
      (value) => {
        for (const parse of [parseRequest, parseResponse, parseMessage, parseErrorBody, parseStreamEvent]) {
          expect(typeof parse(value).ok).toBe('boolean')
        }
      },
    ),
    cases(500, 200_000),
  )
})
