import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../../../../../test/kit/cases.ts'
import type { Block } from '../../../wire/message.ts'
import type { MessagesResponse } from '../../../wire/response.ts'
import type { StreamEvent } from '../../../wire/stream-event.ts'
import { createSimulator, type Simulator } from '../create-simulator.ts'
import type { ScriptBlock } from './script.ts'
import { eventsOf, eventText } from './stream.ts'

const BODY = { model: 'claude-opus-5-5', max_tokens: 2_000, messages: [{ role: 'user', content: 'hi' }] }

const arbitraryBlock: fc.Arbitrary<ScriptBlock> = fc.oneof(
  fc.record({
    type: fc.constant('text'),
    text: fc.string({ minLength: 1, maxLength: 400, unit: 'grapheme' }),
  }),
  fc.record({ type: fc.constant('thinking'), thinking: fc.string({ maxLength: 200 }) }),
  fc.record({
    type: fc.constant('tool_use'),
    name: fc.constantFrom('read', 'bash'),
    input: fc.dictionary(fc.string({ maxLength: 5 }), fc.oneof(fc.string(), fc.integer(), fc.constant(null))),
  }),
  fc.constant({ type: 'redacted_thinking' }),
)

function responseFor(content: readonly ScriptBlock[]): MessagesResponse {
  const simulator = createSimulator({ clock: 'virtual', script: [{ content }] })
  return simulator.answer(BODY).body as MessagesResponse
}

/** What a reader makes of the events, strictly: every delta must follow the start of its block. */
function collect(events: Iterable<StreamEvent>): MessagesResponse {
  let message: MessagesResponse | undefined
  const blocks: { [field: string]: unknown }[] = []
  let json = ''
  for (const event of events) {
    switch (event.type) {
      case 'message_start':
        message = event.message
        break
      case 'content_block_start':
        expect(event.index).toBe(blocks.length)
        blocks.push({ ...event.content_block })
        json = ''
        break
      case 'content_block_delta': {
        expect(event.index).toBe(blocks.length - 1)
        const block = blocks[event.index] ?? {}
        const { delta } = event
        if (delta.type === 'text_delta') block['text'] = `${String(block['text'])}${delta.text}`
        if (delta.type === 'thinking_delta')
          block['thinking'] = `${String(block['thinking'])}${delta.thinking}`
        if (delta.type === 'signature_delta') block['signature'] = delta.signature
        if (delta.type === 'input_json_delta') json += delta.partial_json
        break
      }
      case 'content_block_stop':
        if (json !== '') (blocks[event.index] ?? {})['input'] = JSON.parse(json) as unknown
        break
      case 'message_delta':
        if (message)
          message = {
            ...message,
            stop_reason: event.delta.stop_reason,
            stop_sequence: event.delta.stop_sequence,
            usage: { ...message.usage, output_tokens: event.usage.output_tokens },
          }
        break
      case 'message_stop':
      case 'ping':
        break
      case 'error':
        throw new Error(event.error.message)
    }
  }
  return { ...(message as MessagesResponse), content: blocks as unknown as Block[] }
}

describe('a stream', () => {
  test('has exactly the content of the response', () => {
    fc.assert(
      fc.property(fc.array(arbitraryBlock, { maxLength: 6 }), (content) => {
        const response = responseFor(content)
        expect(collect(eventsOf({ response, isCut: false }))).toEqual(response)
      }),
      cases(500, 100_000),
    )
  })

  test('never splits a character', () => {
    const response = responseFor([{ type: 'text', text: '🙂'.repeat(300) }])
    const texts = [...eventsOf({ response, isCut: false })].flatMap((event) =>
      event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? [event.delta.text] : [],
    )
    expect(texts.length).toBeGreaterThan(10)
    expect(texts.filter((text) => !text.isWellFormed())).toEqual([])
  })

  test('has an event line for every event; without it readers skip the event', () => {
    expect(eventText({ type: 'ping' })).toBe('event: ping\ndata: {"type":"ping"}\n\n')
  })

  test('reports the input at its start, and its full usage at its end', () => {
    const events = [
      ...eventsOf({ response: responseFor([{ type: 'text', text: 'a b c d e' }]), isCut: false }),
    ]
    const start = events[0]
    const end = events.at(-2)
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'ping',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    if (start?.type !== 'message_start' || end?.type !== 'message_delta') throw new Error('other events')
    expect(start.message).toMatchObject({ content: [], stop_reason: null, usage: { output_tokens: 1 } })
    expect(end.usage.input_tokens).toBe(start.message.usage.input_tokens)
    expect(end.usage.output_tokens).toBeGreaterThan(1)
  })

  test('a call that was cut off ends in the middle of its input', () => {
    const content: Block[] = [{ type: 'tool_use', id: 't', name: 'read', input: {} }]
    const response = { ...responseFor([]), content }
    const parts = [...eventsOf({ response, isCut: true })].flatMap((event) =>
      event.type === 'content_block_delta' && event.delta.type === 'input_json_delta'
        ? [event.delta.partial_json]
        : [],
    )
    expect(() => JSON.parse(parts.join('')) as unknown).toThrow('JSON')
  })
})

describe('the bytes of a stream', () => {
  function post(simulator: Simulator): Promise<Response> {
    return simulator.fetch(
      new Request('http://simulator/v1/messages', {
        method: 'POST',
        headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
        body: JSON.stringify({ ...BODY, stream: true }),
      }),
    )
  }

  test('are sent as events', async () => {
    const response = await post(createSimulator())
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const text = await response.text()
    expect(text.startsWith('event: message_start\ndata: {"type":"message_start"')).toBe(true)
    expect(text.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true)
  })

  test('stop when the reader disconnects', async () => {
    const simulator = createSimulator({
      script: [{ content: [{ type: 'text', text: 'x'.repeat(100_000) }] }],
    })
    const reader = (await post(simulator)).body?.getReader()
    await reader?.read()
    await reader?.cancel()
    expect((await reader?.read())?.done).toBe(true)
    expect((await post(simulator)).status).toBe(200)
  })
})
