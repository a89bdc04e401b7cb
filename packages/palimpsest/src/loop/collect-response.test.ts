import { expect, test } from 'vitest'
import { ProviderError } from '../errors.ts'
import type { ModelEvent } from '../ports.ts'
import type { Block } from '../wire/message.ts'
import type { StopReason } from '../wire/response.ts'
import { collectResponse, type CollectedResponse } from './collect-response.ts'

test('the input of a call is kept as the very text the model wrote', async () => {
  const { json, response } = await collect([
    ...opening(),
    ...call('{"b": 1.0,', ' "7":12345678901234567890}'),
    ...ending(),
  ])
  expect(json).toContain('"input":{"b": 1.0, "7":12345678901234567890}')
  expect(response.content).toEqual([
    { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { 7: Number('12345678901234567890'), b: 1 } },
  ])
})

test('a call whose input is not JSON is kept readable and marked', async () => {
  const { response, unreadable } = await collect([
    ...opening(),
    ...call('{"path": "a'),
    ...ending('tool_use'),
  ])
  expect([...unreadable]).toEqual(['toolu_1'])
  expect(response.content).toEqual([
    { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { unreadable_input: '{"path": "a' } },
  ])
})

test.each([
  ['the output limit', 'max_tokens', ['{"path": "a', '']],
  ['the output limit, right behind its name,', 'max_tokens', ['']],
  ['the window', 'model_context_window_exceeded', ['{"path']],
  ['a refusal', 'refusal', ['{"path": "a"']],
] as const)('a call that %s cut is left out', async (_what, reason, parts) => {
  const events = [...opening(), ...said('first'), ...call(...parts).map(shift), ...ending(reason)]
  const { response, cutCall } = await collect(events)
  expect(cutCall).toBe(true)
  expect(response.content).toEqual([{ type: 'text', text: 'first' }])
})

test('usage grows with the stream and keeps what its end does not repeat', async () => {
  const { response } = await collect([...opening(), ...said('hi'), ...ending()])
  expect(response.usage).toEqual({ input_tokens: 10, output_tokens: 42, cache_read_input_tokens: 5 })
})

test.each([
  ['a stream without its end', [...opening(), ...said('half')], 'transport'],
  [
    'two calls of one id',
    [...opening(), ...call('{}'), ...call('{}').map(shift), ...ending('tool_use')],
    'bad-output',
  ],
  ['a stream without a message', [{ type: 'ping' }], 'bad-output'],
  ['a delta for a block that never began', [...opening(), ...said('x').slice(1)], 'bad-output'],
  [
    'an error in mid-stream',
    [...opening(), { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
    'overloaded',
  ],
] as const)('%s is a failure', async (_name, events, kind) => {
  const failed = await collect(events).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(ProviderError)
  expect(failed instanceof ProviderError && failed.failure.kind).toBe(kind)
})

async function collect(events: readonly ModelEvent[]): Promise<CollectedResponse> {
  const collecting = collectResponse(toStream(events))
  for (let next = await collecting.next(); ; next = await collecting.next()) if (next.done) return next.value
}

async function* toStream(events: readonly ModelEvent[]): AsyncGenerator<ModelEvent> {
  yield* events
}

function opening(): ModelEvent[] {
  const usage = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 5 }
  return [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    },
  ]
}

function said(text: string): ModelEvent[] {
  return [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
  ]
}

function call(...partials: string[]): ModelEvent[] {
  const content_block: Block = { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} }
  return [
    { type: 'content_block_start', index: 0, content_block },
    ...partials.map((partial_json): ModelEvent => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json },
    })),
    { type: 'content_block_stop', index: 0 },
  ]
}

function shift(event: ModelEvent): ModelEvent {
  return 'index' in event ? { ...event, index: event.index + 1 } : event
}

function ending(stop_reason: StopReason = 'end_turn'): ModelEvent[] {
  return [
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 42 } },
    { type: 'message_stop' },
  ]
}
