import { expect, test } from 'vitest'
import { drive } from '../../drive.ts'
import { ProviderError } from '../../errors.ts'
import type { ModelEvent } from '../../ports.ts'
import type { Block } from '../../wire/message.ts'
import type { StopReason } from '../../wire/response.ts'
import {
  ANSWER_CHARS_MAX,
  collectResponse,
  nothingGathered,
  type CollectedResponse,
} from './collect-response.ts'

test('the input of a call is kept exactly as the model wrote it', async () => {
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
  ['the output limit, right after its name,', 'max_tokens', ['']],
  ['the window', 'model_context_window_exceeded', ['{"path']],
  ['a refusal', 'refusal', ['{"path": "a"']],
] as const)('a call cut short by %s is left out', async (_what, reason, parts) => {
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

test.each([
  ['an answer that begins twice', [...opening(), ...opening(), ...ending()], /began the answer twice/],
  ['text before the beginning', [...said('x'), ...opening(), ...ending()], /had not begun/],
  [
    'a call without a name',
    [...opening(), ...begun({ type: 'tool_use', id: 'a', input: {} }), ...ending()],
    /name of a tool/,
  ],
  [
    'a call whose name is an object',
    [...opening(), ...begun({ type: 'tool_use', id: 'a', name: { toString: 'x' }, input: {} }), ...ending()],
    /name of a tool/,
  ],
  [
    'text given as a number',
    [...opening(), ...begun({ type: 'text', text: 5 }), ...ending()],
    /text is no text/,
  ],
  [
    'a result that the provider made up',
    [...opening(), ...begun({ type: 'tool_result', tool_use_id: 'a', content: 'x' }), ...ending()],
    /tool_result/,
  ],
  [
    'an encrypted block without its data',
    [...opening(), ...begun({ type: 'redacted_thinking' }), ...ending()],
    /data/,
  ],
])('%s is refused with a clear message', async (_what, events, message) => {
  const failed = await collect(events).catch((error: unknown) => error)
  expect(failed instanceof ProviderError && failed.failure.kind).toBe('bad-output')
  expect(failed instanceof ProviderError && failed.message).toMatch(message)
})

test('ids and names that the API refuses are fixed on arrival, and every id is assigned once', async () => {
  const ids = ['toolu_1', 'toolu_1', '', '../x y', 'i'.repeat(99), 'i'.repeat(98)]
  const calls = ids.flatMap((id, index) =>
    begun({ type: 'tool_use', id, name: 'functions.Read', input: {} }, index),
  )
  const { response, json } = await collect([...opening(), ...calls, ...ending('tool_use')])
  const given = response.content.map((block) => ('id' in block ? block.id : ''))
  expect(given).toEqual(['toolu_1', 'toolu_1-2', 'call', '___x_y', 'i'.repeat(40), `${'i'.repeat(38)}-2`])
  expect(response.content.map((block) => ('name' in block ? block.name : ''))).toEqual(
    Array.from(ids, () => 'functions_Read'),
  )
  expect(JSON.parse(json)).toEqual(response)
})

test('the signatures of thinking count as broken only if something before it was fixed', async () => {
  const thought = { type: 'thinking', thinking: 'hm', signature: 's' }
  const bad = { type: 'tool_use', id: 'a b', name: 'Read', input: {} }
  const good = { ...bad, id: 'a' }
  const breaks = async (...blocks: object[]): Promise<boolean> =>
    (await collect([...opening(), ...blocks.flatMap((block, i) => begun(block, i)), ...ending()])).breaksSeal
  expect(await breaks(thought, bad)).toBe(false)
  expect(await breaks(good, thought)).toBe(false)
  expect(await breaks(thought, bad, thought)).toBe(true)
})

test.each([
  ['a text', '"x"'],
  ['a list', '[1]'],
  ['nothing', 'null'],
])('an input that is %s is kept readable and marked', async (_what, input) => {
  const block = { type: 'tool_use', id: 'a', name: 'Read', input: JSON.parse(input) as unknown }
  const { response, unreadable } = await collect([...opening(), ...begun(block), ...ending('tool_use')])
  expect(response.content).toEqual([
    { type: 'tool_use', id: 'a', name: 'Read', input: { unreadable_input: input } },
  ])
  expect([...unreadable]).toEqual(['a'])
})

test('an input nested 50,000 levels deep is not parsed: the model is shown what it sent', async () => {
  const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
  const { response, json, unreadable } = await collect([...opening(), ...call(deep), ...ending('tool_use')])
  expect(response.content).toMatchObject([{ input: { unreadable_input: deep } }])
  expect([...unreadable]).toEqual(['toolu_1'])
  expect(json).toContain('unreadable_input')
})

test('an index is only a name: a large one costs nothing, and blocks keep the order in which they began', async () => {
  const { response } = await collect([
    ...opening(),
    ...said('first').map((event) => at(event, 1e9)),
    ...said('second').map((event) => at(event, 7)),
    ...said('third').map((event) => at(event, 7)),
    ...ending(),
  ])
  expect(response.content).toEqual(['first', 'second', 'third'].map((text) => ({ type: 'text', text })))
})

test('lone surrogates are replaced in text and in inputs', async () => {
  const { response, json } = await collect([
    ...opening(),
    ...said('a\ud83d'),
    ...call(String.raw`{"b":"\ud83d","c":"\ud83d\ude00"}`).map(shift),
    ...ending('tool_use'),
  ])
  expect(response.content).toMatchObject([{ text: 'a\ufffd' }, { input: { b: '\ufffd', c: '😀' } }])
  expect(JSON.parse(json)).toEqual(response)
})

test.each([
  ['in one piece', 1],
  ['in many pieces', 2_000],
])('an answer that is too long is not read to its end, %s', async (_how, pieces) => {
  const piece = said('x'.repeat(Math.ceil((ANSWER_CHARS_MAX + 1) / pieces)))
  const delta = piece.slice(1, 2)
  const endless = Array.from({ length: pieces }, () => delta).flat()
  const failed = await collect([...opening(), ...piece.slice(0, 1), ...endless]).catch((e: unknown) => e)
  expect(failed instanceof ProviderError && failed.failure.kind).toBe('over-limit')
})

test('fields in the final event of a stream change nothing but how the answer ended', async () => {
  const end = {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null, role: 'user', id: 'other', content: 'x' },
    usage: { output_tokens: 3 },
  }
  const { response } = await collect([...opening(), ...said('hi'), event(end), { type: 'message_stop' }])
  expect(response).toMatchObject({ id: 'msg_1', role: 'assistant', content: [{ text: 'hi' }] })
})

/** As it comes from outside, where nothing has a type. */
function event(value: object): ModelEvent {
  return value as ModelEvent
}

function begun(block: object, index = 0): ModelEvent[] {
  return [
    event({ type: 'content_block_start', index, content_block: block }),
    { type: 'content_block_stop', index },
  ]
}

function at(one: ModelEvent, index: number): ModelEvent {
  return 'index' in one ? { ...one, index } : one
}

test('an abort takes effect at the next event, although the rest has already arrived', async () => {
  const events = [...opening(), ...said('first'), ...said('second'), ...ending('end_turn')]
  const { shown, outcome } = await collectUntil('first', events)
  expect(shown).toBe('first')
  await expect(outcome).rejects.toThrow('aborted')
})

test('an abort after the end of an answer leaves it complete', async () => {
  const abort = new AbortController()
  const events = async function* () {
    yield* [...opening(), ...said('whole'), ...ending('end_turn')]
    abort.abort()
    yield { type: 'ping' } as const
  }
  const { response } = await drive(collectResponse(events(), nothingGathered(), abort.signal))
  expect(response.content).toEqual([{ type: 'text', text: 'whole' }])
})

/** Aborts where this text is shown. */
async function collectUntil(text: string, events: readonly ModelEvent[]) {
  const abort = new AbortController()
  const steps = collectResponse(toStream(events), nothingGathered(), abort.signal)
  let shown = ''
  const outcome = (async () => {
    for await (const step of steps) {
      if (step.type === 'text-delta') shown += step.text
      if (shown === text) abort.abort()
    }
  })()
  await outcome.catch(() => undefined)
  return { shown, outcome }
}

async function collect(events: readonly ModelEvent[]): Promise<CollectedResponse> {
  return await drive(collectResponse(toStream(events)))
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
