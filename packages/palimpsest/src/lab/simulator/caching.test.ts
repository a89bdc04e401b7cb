import { describe, expect, test } from 'vitest'
import type { MessagesResponse } from '../../wire/response.ts'
import { createSimulator, type Simulator, type SimulatorOptions } from './create-simulator.ts'

// The public caching rules as a client meets them. One token per character, so every figure below is worked out by hand.

const MINUTE = 60_000
const MARK = { type: 'ephemeral' } as const
const HOUR = { type: 'ephemeral', ttl: '1h' } as const

function create(options: SimulatorOptions = {}): Simulator {
  const script = [{ content: [{ type: 'text', text: 'okay' }], times: 100 }]
  return createSimulator({ clock: 'virtual', tokens: 'characters', script, ...options })
}

function block(length: number, mark?: object): object {
  return { type: 'text', text: 'x'.repeat(length), ...(mark ? { cache_control: mark } : {}) }
}

function request(body: object): object {
  return { model: 'claude-opus-5-5', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }], ...body }
}

function ask(simulator: Simulator, body: object, headers?: { [name: string]: string }): MessagesResponse {
  const answer = simulator.answer(request(body), headers)
  expect(answer.body).toMatchObject({ type: 'message' })
  return answer.body as MessagesResponse
}

/** Read, written for five minutes, written for an hour, neither. */
function figures({ usage }: MessagesResponse): unknown[] {
  return [
    usage.cache_read_input_tokens,
    usage.cache_creation?.ephemeral_5m_input_tokens,
    usage.cache_creation?.ephemeral_1h_input_tokens,
    usage.input_tokens,
  ]
}

describe('usage', () => {
  test('(L1) splits the input into read, written by lifetime, and the rest', () => {
    const simulator = create()
    const body = {
      system: [block(3_000, HOUR)],
      messages: [{ role: 'user', content: [block(400, MARK), block(30)] }],
    }
    const first = ask(simulator, body)
    expect(figures(first)).toEqual([0, 400, 3_000, 30])
    expect(first.usage.cache_creation_input_tokens).toBe(3_400)
    expect(figures(ask(simulator, body))).toEqual([3_400, 0, 0, 30])
    simulator.advance(30 * MINUTE)
    expect(figures(ask(simulator, body))).toEqual([3_000, 400, 0, 30])
  })

  test('is priced by the model: both lifetimes on Sonnet 5.5', () => {
    const simulator = create()
    ask(simulator, {
      model: 'claude-sonnet-5-5',
      system: [block(3_000, HOUR)],
      messages: [{ role: 'user', content: [block(400, MARK), block(30)] }],
    })
    // 3,000 x 4 + 400 x 2.50 + 30 x 2 + 4 x 10, per million
    expect(simulator.requests()[0]?.cost_usd).toBeCloseTo(0.0131, 12)
  })

  test('is priced by the tier of the whole input on Haiku 5.5', () => {
    const simulator = create()
    const body = { model: 'claude-haiku-5-5', system: [block(99_990, MARK)] }
    ask(simulator, { ...body, messages: [{ role: 'user', content: 'x'.repeat(10) }] })
    ask(simulator, { ...body, messages: [{ role: 'user', content: 'x'.repeat(10) }] })
    ask(simulator, { ...body, messages: [{ role: 'user', content: 'x'.repeat(11) }] })
    const costs = simulator.requests().map(({ cost_usd }) => cost_usd)
    // 100,000 in: 99,990 written at 0.125, 10 at 0.10, 4 out at 0.50
    expect(costs[0]).toBeCloseTo((99_990 * 0.125 + 10 * 0.1 + 4 * 0.5) / 1e6, 12)
    // the same, read at 0.01
    expect(costs[1]).toBeCloseTo((99_990 * 0.01 + 10 * 0.1 + 4 * 0.5) / 1e6, 12)
    // 100,001 in: read at 0.05, 11 at 0.50, 4 out at 2.50
    expect(costs[2]).toBeCloseTo((99_990 * 0.05 + 11 * 0.5 + 4 * 2.5) / 1e6, 12)
  })

  test('is 0 in both counters below the minimum, without a warning: 1,024 on Sonnet 5', () => {
    const simulator = create()
    const body = { model: 'claude-sonnet-5', messages: [{ role: 'user', content: [block(1_023, MARK)] }] }
    expect(figures(ask(simulator, body))).toEqual([0, 0, 0, 1_023])
    expect(figures(ask(simulator, body))).toEqual([0, 0, 0, 1_023])
    expect(simulator.requests()[0]?.cache_explanation).toEqual({
      kind: 'minimum',
      tokens: 1_023,
      minimumTokens: 1_024,
    })
    const enough = { ...body, messages: [{ role: 'user', content: [block(1_024, MARK)] }] }
    expect(figures(ask(simulator, enough))).toEqual([0, 1_024, 0, 0])
  })
})

describe('the look-back', () => {
  const turn = (blocks: number, marked: number): object => ({
    messages: [
      {
        role: 'user',
        content: Array.from({ length: blocks }, (_, i) => ({
          type: 'text',
          text: String(i).padStart(100, '.'),
          ...(i + 1 === marked ? { cache_control: MARK } : {}),
        })),
      },
    ],
  })

  test('a turn of 35 blocks misses a last write at block 15, and one of 34 blocks reads it', () => {
    const misses = create()
    ask(misses, turn(15, 15))
    expect(figures(ask(misses, turn(35, 35)))).toEqual([0, 3_500, 0, 0])
    expect(misses.requests()[1]?.cache_explanation).toEqual({
      kind: 'lookback',
      path: 'messages.0.content.14',
      positionsBetween: 20,
      lostTokens: 1_500,
    })
    const hits = create()
    ask(hits, turn(15, 15))
    expect(figures(ask(hits, turn(34, 34)))).toEqual([1_500, 1_900, 0, 0])
    expect(hits.requests()[1]?.cache_explanation).toEqual({ kind: 'hit', path: 'messages.0.content.14' })
  })
})

describe('lifetimes', () => {
  const body = { system: [block(2_000)], cache_control: MARK }

  test('begin with the request and are renewed by reads', () => {
    const simulator = create()
    ask(simulator, body)
    simulator.advance(4 * MINUTE)
    expect(figures(ask(simulator, body))).toEqual([2_002, 0, 0, 0])
    simulator.advance(5 * MINUTE - 1)
    expect(figures(ask(simulator, body))).toEqual([2_002, 0, 0, 0])
    simulator.advance(5 * MINUTE)
    expect(figures(ask(simulator, body))).toEqual([0, 2_002, 0, 0])
    expect(simulator.requests()[3]?.cache_explanation).toMatchObject({ kind: 'expired', expiredMsAgo: 0 })
  })

  test('do not wait for a slow answer', async () => {
    const simulator = create({ script: [{ content: [], delay_ms: 3 * MINUTE }] })
    const late = post(simulator, body)
    await settle()
    simulator.advance(3 * MINUTE)
    await late
    simulator.advance(2 * MINUTE)
    expect((await usageOf(post(simulator, body))).cache_read_input_tokens).toBe(0)
  })

  test('a second request misses until the first answer has begun', async () => {
    const simulator = create({ script: [{ content: [{ type: 'text', text: 'slow' }], delay_ms: 1_000 }] })
    const first = post(simulator, body)
    await settle()
    expect((await usageOf(post(simulator, body))).cache_creation_input_tokens).toBe(2_002)
    simulator.reset()

    simulator.addSteps([{ content: [{ type: 'text', text: 'slow' }], delay_ms: 1_000 }])
    const again = post(simulator, body)
    await settle()
    simulator.advance(1_000)
    await again
    expect((await usageOf(post(simulator, body))).cache_read_input_tokens).toBe(2_002)
    expect((await first).status).toBe(200)
  })
})

function post(simulator: Simulator, body: object): Promise<Response> {
  return simulator.fetch(
    new Request('http://simulator/v1/messages', {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(request(body)),
    }),
  )
}

async function usageOf(response: Promise<Response>): Promise<MessagesResponse['usage']> {
  return ((await (await response).json()) as MessagesResponse).usage
}

/** Lets a request arrive. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5))
}

describe('who shares a cache', () => {
  const body = { system: [block(2_000)], cache_control: MARK }

  test('requests with one key do, with two keys only if both name one workspace', () => {
    const simulator = create()
    ask(simulator, body, { 'x-api-key': 'a' })
    expect(figures(ask(simulator, body, { 'x-api-key': 'b' }))[0]).toBe(0)
    expect(figures(ask(simulator, body, { 'x-api-key': 'a' }))[0]).toBe(2_002)
    ask(simulator, body, { 'x-api-key': 'a', 'anthropic-workspace-id': 'w' })
    expect(figures(ask(simulator, body, { 'x-api-key': 'b', 'anthropic-workspace-id': 'w' }))[0]).toBe(2_002)
  })

  test('another model has another cache', () => {
    const simulator = create()
    ask(simulator, body)
    expect(figures(ask(simulator, { ...body, model: 'claude-opus-5' }))[0]).toBe(0)
  })
})

describe('pre-warming', () => {
  test('with max_tokens 0 the answer is empty and the whole prompt is written', () => {
    const simulator = create()
    const body = { system: [block(2_000, MARK)] }
    const warm = ask(simulator, { ...body, max_tokens: 0 })
    expect(warm).toMatchObject({ content: [], stop_reason: 'max_tokens', usage: { output_tokens: 0 } })
    expect(figures(warm)).toEqual([0, 2_000, 0, 2])
    expect(figures(ask(simulator, body))).toEqual([2_000, 0, 0, 2])
  })
})

describe('diagnostics', () => {
  const body = { system: [block(2_000)], cache_control: MARK }
  const reason = (answer: MessagesResponse): unknown => answer.diagnostics?.cache_miss_reason

  test('report what changed since an earlier response', () => {
    const simulator = create()
    const { id } = ask(simulator, body)
    const diagnostics = { previous_message_id: id }
    expect(reason(ask(simulator, { ...body, diagnostics }))).toBeNull()
    expect(reason(ask(simulator, { ...body, diagnostics, system: [block(2_001)] }))).toEqual({
      type: 'system_changed',
      cache_missed_input_tokens: 2_002,
    })
    expect(reason(ask(simulator, { ...body, diagnostics, model: 'claude-opus-5' }))).toMatchObject({
      type: 'model_changed',
    })
    const tools = [{ name: 'a', input_schema: { type: 'object' } }]
    expect(reason(ask(simulator, { ...body, diagnostics, tools }))).toMatchObject({ type: 'tools_changed' })
    const messages = [{ role: 'user', content: 'ho' }]
    expect(reason(ask(simulator, { ...body, diagnostics, messages }))).toMatchObject({
      type: 'messages_changed',
    })
    simulator.advance(5 * MINUTE)
    expect(reason(ask(simulator, { ...body, diagnostics }))).toEqual({ type: 'unavailable' })
    expect(reason(ask(simulator, { ...body, diagnostics: { previous_message_id: 'msg_x' } }))).toEqual({
      type: 'previous_message_not_found',
    })
    expect(ask(simulator, body).diagnostics).toBeUndefined()
  })
})

describe('explanations in the log', () => {
  const system = [block(2_000)]
  const first = { role: 'user', content: 'Hi.' }
  const asked = (answer: string): object => ({
    system,
    cache_control: MARK,
    messages: [first, { role: 'assistant', content: answer }, { role: 'user', content: 'Go on.' }],
  })
  const why = (simulator: Simulator): unknown => simulator.requests().at(-1)?.cache_explanation

  test('name an edit right after the content of the request before last', () => {
    const simulator = create()
    ask(simulator, { system, cache_control: MARK, messages: [first] })
    ask(simulator, asked('Yes.'))
    ask(simulator, asked('No.'))
    expect(why(simulator)).toEqual({ kind: 'changed', path: 'messages.1.content.0', lostTokens: 10 })
  })

  test('name a change at the very start: tools, system, model', () => {
    const simulator = create()
    ask(simulator, asked('Yes.'))
    ask(simulator, { ...asked('Yes.'), system: [block(2_001)] })
    expect(why(simulator)).toMatchObject({ kind: 'changed', path: 'system.0' })
    ask(simulator, { ...asked('Yes.'), model: 'claude-opus-5' })
    expect(why(simulator)).toMatchObject({ kind: 'changed', path: 'model' })
    ask(simulator, {
      ...asked('Yes.'),
      model: 'claude-opus-5',
      tools: [{ name: 'a', input_schema: { type: 'object' } }],
    })
    expect(why(simulator)).toMatchObject({ kind: 'changed', path: 'tools.0' })
  })

  test('do not mistake a fork, or another conversation, for the previous request', () => {
    const simulator = create()
    ask(simulator, asked('Yes.'))
    const fork = {
      ...asked('Yes.'),
      messages: [first, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'Sum up.' }],
    }
    ask(simulator, fork, { 'x-palimpsest-source': 'compact' })
    ask(simulator, asked('Yes.'))
    expect(why(simulator)).toMatchObject({ kind: 'hit' })
    ask(simulator, {
      system: [block(3_000)],
      cache_control: MARK,
      messages: [{ role: 'user', content: 'Else.' }],
    })
    expect(why(simulator)).toEqual({ kind: 'first' })
  })
})
