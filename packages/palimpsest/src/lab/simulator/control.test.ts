import { describe, expect, test } from 'vitest'
import { isBlock } from '../../wire/message.ts'
import type { MessagesResponse } from '../../wire/response.ts'
import { createSimulator, type Simulator } from './create-simulator.ts'
import type { Fault } from './faults.ts'
import { OVERFLOW_FORMATS } from './overflow-formats.ts'
import type { LoggedRequest } from './request-log.ts'

const BODY = { model: 'claude-opus-5-5', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }

async function control(
  simulator: Simulator,
  path: string,
  body?: unknown,
): Promise<{ status: number; json: unknown }> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await simulator.fetch(new Request(`http://simulator/_sim/${path}`, init))
  return { status: response.status, json: await response.json() }
}

function say(
  simulator: Simulator,
  content: unknown = 'hi',
  headers: { [name: string]: string } = {},
): string {
  const { body } = simulator.answer({ ...BODY, messages: [{ role: 'user', content }] }, headers)
  const [block] = (body as MessagesResponse).content
  return block && isBlock(block, 'text') ? block.text : ''
}

function post(simulator: Simulator, body: object = BODY): Promise<Response> {
  return simulator.fetch(
    new Request('http://simulator/v1/messages', {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(body),
    }),
  )
}

const step = (text: string, more: object = {}): object => ({ content: [{ type: 'text', text }], ...more })

describe('scripts', () => {
  test('are played in order, then the offline model answers', async () => {
    const simulator = createSimulator()
    const added = await control(simulator, 'script', { steps: [step('one'), step('two', { times: 2 })] })
    expect(added).toEqual({ status: 200, json: { ok: true } })
    expect([say(simulator), say(simulator), say(simulator)]).toEqual(['one', 'two', 'two'])
    expect(say(simulator)).toContain('offline extractive model')
  })

  test('a step with a condition waits for its request and delays nothing else', async () => {
    const simulator = createSimulator()
    const when = { bodyContains: 'say "please"' }
    await control(simulator, 'script', { steps: [step('polite', { when }), step('one'), step('two')] })
    expect(say(simulator)).toBe('one')
    expect(say(simulator, 'I say "please".')).toBe('polite')
    expect(say(simulator, 'I say "please".')).toBe('two')
  })

  test('a step can apply to one source, and the styles of a source count as that source', async () => {
    const simulator = createSimulator()
    const steps = [
      step('summary', { when: { source: 'compact' } }),
      step('main', { when: { source: 'main' }, times: 2 }),
    ]
    await control(simulator, 'script', { steps })
    expect(say(simulator)).toBe('main')
    expect(say(simulator, 'hi', { 'x-palimpsest-source': 'main:terse' })).toBe('main')
    expect(say(simulator, 'hi', { 'x-palimpsest-source': 'compact' })).toBe('summary')
  })

  test('ids and usage come from the simulator', () => {
    const simulator = createSimulator({
      script: [
        {
          content: [{ type: 'tool_use', name: 'read', input: { a: 1 }, id: 'mine' }],
          stop_reason: 'end_turn',
        },
      ],
    })
    const { body } = simulator.answer(BODY)
    expect(body).toMatchObject({
      id: expect.stringMatching(/^msg_01/),
      stop_reason: 'end_turn',
      content: [{ type: 'tool_use', id: expect.stringMatching(/^toolu_01/), name: 'read', input: { a: 1 } }],
    })
  })

  test.each([
    [{}, 'steps: expected a list'],
    [{ steps: [{ content: 'x' }] }, 'steps.0.content: expected a list of blocks'],
    [{ steps: [step('x'), step('y', { times: 0 })] }, 'steps.1.times: expected an integer from 1'],
    [{ steps: [{ content: [{ type: 'text' }] }] }, 'steps.0.content.0: a text block needs text'],
    [
      { steps: [{ content: [{ type: 'tool_use', name: 'x' }] }] },
      'steps.0.content.0: a tool_use block needs name and input',
    ],
    [{ steps: [step('x', { delay_ms: -1 })] }, 'steps.0.delay_ms: expected an integer from 0'],
  ])('%j is refused', async (body, error) => {
    const simulator = createSimulator()
    expect(await control(simulator, 'script', body)).toEqual({ status: 400, json: { error } })
    expect(say(simulator)).toContain('offline')
  })

  test('a delay uses the clock', async () => {
    const simulator = createSimulator({ clock: 'virtual' })
    await control(simulator, 'script', { steps: [step('late', { delay_ms: 500 })] })
    let arrived = false
    const waiting = post(simulator).then((response) => {
      arrived = true
      return response.json()
    })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(arrived).toBe(false)
    await control(simulator, 'clock', { advance_ms: 500 })
    expect(await waiting).toMatchObject({ content: [{ type: 'text', text: 'late' }] })
  })
})

describe('faults', () => {
  const fault = async (simulator: Simulator, rule: object): Promise<void> => {
    expect(await control(simulator, 'faults', { faults: [rule] })).toEqual({
      status: 200,
      json: { ok: true },
    })
  }

  test('a status is answered in the form of the API, as often as requested', async () => {
    const simulator = createSimulator()
    await fault(simulator, { times: 2, fault: { type: 'status', status: 529 } })
    expect((await post(simulator)).status).toBe(529)
    const second = await post(simulator)
    expect(await second.json()).toMatchObject({ error: { type: 'overloaded_error', message: 'Overloaded' } })
    expect((await post(simulator)).status).toBe(200)
    expect(simulator.stats().refused).toEqual({ 'fault.529': 2 })
  })

  test('a status can carry headers and an error code', async () => {
    const simulator = createSimulator()
    await fault(simulator, {
      fault: {
        type: 'status',
        status: 529,
        error_code: 'compaction_unavailable',
        message: 'later',
        retry_after: 3,
        headers: { 'x-should-retry': 'false' },
      },
    })
    const response = await post(simulator)
    expect(response.headers.get('retry-after')).toBe('3')
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await response.json()).toMatchObject({
      error: { message: 'later', details: { error_code: 'compaction_unavailable' } },
    })
  })

  test('strike the nth request that matches path and body', async () => {
    const simulator = createSimulator()
    await fault(simulator, {
      match: { path: '/v1/messages', nth: 2, bodyContains: 'boom' },
      fault: { type: 'status', status: 500 },
    })
    const boom = { ...BODY, messages: [{ role: 'user', content: 'boom' }] }
    const statuses = []
    for (const body of [boom, BODY, boom, boom]) statuses.push((await post(simulator, body)).status)
    expect(statuses).toEqual([200, 200, 500, 200])
  })

  test('a refused request writes nothing to the cache', async () => {
    const simulator = createSimulator({ tokens: 'characters' })
    const cached = { ...BODY, system: 's'.repeat(2_000), cache_control: { type: 'ephemeral' } }
    await fault(simulator, { fault: { type: 'status', status: 500 } })
    await post(simulator, cached)
    await post(simulator, { ...cached, max_tokens: -1 })
    const { usage } = (await (await post(simulator, cached)).json()) as MessagesResponse
    expect([usage.cache_read_input_tokens, usage.cache_creation_input_tokens]).toEqual([0, 2_002])
  })

  test.each(OVERFLOW_FORMATS.map(({ name, message }, index) => [index, name, message] as const))(
    'prompt_too_long %i, %s',
    async (index, name, message) => {
      const simulator = createSimulator()
      for (const format of [index, name]) {
        await fault(simulator, { fault: { type: 'prompt_too_long', format } })
        const response = await post(simulator)
        expect(response.status).toBe(400)
        expect(JSON.stringify(await response.json())).toContain(JSON.stringify(message))
      }
    },
  )

  test('prompt_too_long without a format reports the request’s own numbers', async () => {
    const simulator = createSimulator({ tokens: 'characters' })
    await fault(simulator, { fault: { type: 'prompt_too_long' } })
    expect(await (await post(simulator)).json()).toMatchObject({
      error: { type: 'invalid_request_error', message: 'prompt is too long: 2 tokens > 1000000 maximum' },
    })
  })

  test('prompt_too_long for a request that breaks a rule returns that rule’s error: it has no numbers of its own', async () => {
    const simulator = createSimulator()
    await fault(simulator, { fault: { type: 'prompt_too_long' } })
    const response = await post(simulator, { ...BODY, max_tokens: -1 })
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringMatching(/^max_tokens: /) },
    })
  })

  test('the log has the exact error that was returned, whatever the fault', async () => {
    const faults: readonly Fault[] = [
      { type: 'prompt_too_long' },
      ...OVERFLOW_FORMATS.map(({ name }) => ({ type: 'prompt_too_long', format: name }) as const),
      { type: 'status', status: 529 },
      { type: 'status', status: 400, message: 'in {braces}', error_code: 'x' },
      { type: 'status', status: 500, after_events: 2 },
    ]
    for (const one of faults) {
      const simulator = createSimulator()
      await fault(simulator, { fault: one })
      const answered = await (await post(simulator, { ...BODY, stream: true })).text()
      const logged = (await control(simulator, 'requests')).json as LoggedRequest[]
      expect(logged).toMatchObject([{ error: { message: expect.any(String) }, fault: one }])
      const { type, message } = logged[0]?.error ?? {}
      expect(answered).toContain(JSON.stringify(message))
      expect(answered).toContain(JSON.stringify(type))
      expect(message).not.toMatch(/\{(tokens|most)\}/)
    }
  })

  test('the log names the fault of an answer that began normally, and no error that was never sent', async () => {
    const late: Fault = { type: 'status', status: 500, after_events: 1_000 }
    for (const one of [{ type: 'garbage' }, { type: 'disconnect', after_bytes: 10 }, late] as const) {
      const simulator = createSimulator()
      await fault(simulator, { fault: one })
      await (await post(simulator, { ...BODY, stream: true })).text().catch(() => '')
      await post(simulator)
      const [struck, next] = simulator.requests()
      expect(struck).toMatchObject({ status: 200, fault: one })
      expect([struck?.error, next?.fault]).toEqual([undefined, undefined])
    }
  })

  test('a connection closes after the given number of bytes', async () => {
    const simulator = createSimulator()
    await fault(simulator, { fault: { type: 'disconnect', after_bytes: 10 } })
    const { body } = await post(simulator)
    const reader = body?.getReader()
    expect((await reader?.read())?.value?.length).toBe(10)
    await expect(reader?.read()).rejects.toThrow('closed the connection')
  })

  test('a stall and a slow answer use the clock', async () => {
    for (const slow of [
      { type: 'stall', ms: 1_000 },
      { type: 'slow', ms_per_token: 10 },
    ]) {
      const simulator = createSimulator({ clock: 'virtual' })
      await fault(simulator, { fault: slow })
      const response = await post(simulator, { ...BODY, stream: true })
      const read: string[] = []
      const reading = response.text().then((all) => read.push(all))
      await new Promise((resolve) => setTimeout(resolve, 5))
      expect(read).toEqual([])
      for (let i = 0; i < 200 && read.length === 0; i++) {
        simulator.advance(1_000)
        await new Promise((resolve) => setTimeout(resolve, 0))
      }
      await reading
      expect(read[0]).toContain('event: message_stop')
    }
  })

  test('garbage is not JSON, and in a stream not an event', async () => {
    const simulator = createSimulator()
    await fault(simulator, { times: 2, fault: { type: 'garbage' } })
    await expect((await post(simulator)).json()).rejects.toThrow('not valid JSON')
    const text = await (await post(simulator, { ...BODY, stream: true })).text()
    expect(text).toContain('event: message_start')
    expect(text).not.toContain('message_stop')
  })

  test('an error in mid-stream comes after the given number of events', async () => {
    const simulator = createSimulator()
    await fault(simulator, { fault: { type: 'status', status: 529, after_events: 2 } })
    const response = await post(simulator, { ...BODY, stream: true })
    expect(response.status).toBe(200)
    const events = (await response.text()).split('\n\n').filter((event) => event !== '')
    expect(events).toHaveLength(3)
    expect(events[2]).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    )
  })

  test.each([
    [{}, 'faults: expected a list'],
    [
      { faults: [{ fault: { type: 'fire' } }] },
      'faults.0.fault.type: expected status, prompt_too_long, disconnect, stall, garbage or slow',
    ],
    [
      { faults: [{ fault: { type: 'status', status: 200 } }] },
      'faults.0.fault.status: expected an HTTP error status',
    ],
    [
      { faults: [{ fault: { type: 'status', status: 700 } }] },
      'faults.0.fault.status: expected an HTTP error status',
    ],
    [
      { faults: [{ fault: { type: 'status', status: 529, headers: { 'x-a': 'two\nlines' } } }] },
      'faults.0.fault.headers: expected names and texts of HTTP headers',
    ],
    [
      { faults: [{ fault: { type: 'prompt_too_long', format: 'nobody' } }] },
      'faults.0.fault.format: expected a name or number of docs/simulator.md',
    ],
    [
      { faults: [{ match: { nth: 0 }, fault: { type: 'garbage' } }] },
      'faults.0.match.nth: expected an integer from 1',
    ],
  ])('%j is refused', async (body, error) => {
    expect(await control(createSimulator(), 'faults', body)).toEqual({ status: 400, json: { error } })
  })
})

describe('clock, stats and reset', () => {
  test('a virtual clock can be advanced, a real one cannot', async () => {
    const virtual = createSimulator({ clock: 'virtual' })
    expect(await control(virtual, 'clock', { advance_ms: 1_500 })).toEqual({
      status: 200,
      json: { ok: true, now: '1970-01-01T00:00:01.500Z' },
    })
    expect(await control(virtual, 'clock', { advance_ms: 'x' })).toMatchObject({ status: 400 })
    expect(await control(virtual, 'clock', { advance_ms: 1e20 })).toMatchObject({ status: 400 })
    expect(await control(virtual, 'clock', { advance_ms: 0 })).toMatchObject({ status: 200 })
    expect(await control(createSimulator(), 'clock', { advance_ms: 1 })).toMatchObject({ status: 400 })
  })

  test('stats sum up tokens, dollars, hits and refusals', async () => {
    const simulator = createSimulator({
      clock: 'virtual',
      tokens: 'characters',
      script: [{ content: [{ type: 'text', text: 'okay' }], times: 2 }],
    })
    const cached = { ...BODY, system: 's'.repeat(1_998), cache_control: { type: 'ephemeral' } }
    simulator.answer(cached)
    simulator.answer(cached)
    simulator.answer({ ...cached, max_tokens: -1 })
    expect((await control(simulator, 'stats')).json).toEqual({
      requests: 3,
      refused: { 'request.at-least': 1 },
      tokens: {
        input: 4_000,
        cache_read: 2_000,
        cache_write_5m: 2_000,
        cache_write_1h: 0,
        uncached: 0,
        output: 8,
      },
      // 2,000 x 5 + 2,000 x 0.2 + 8 x 20, per million
      cost_usd: expect.closeTo(0.01056, 12),
      hit_rate: 0.5,
    })
  })

  test('a reset forgets requests, cache, script and faults', async () => {
    const simulator = createSimulator({
      clock: 'virtual',
      script: [{ content: [{ type: 'text', text: 'scripted' }] }],
    })
    simulator.addFaults([{ match: { nth: 2 }, fault: { type: 'garbage' } }])
    const before = simulator.answer({ ...BODY, max_tokens: 50 })
    simulator.addSteps([{ content: [{ type: 'text', text: 'left' }] }])
    expect((await control(simulator, 'reset', {})).json).toEqual({ ok: true })
    expect(simulator.requests()).toEqual([])
    expect(simulator.stats()).toMatchObject({ requests: 0, cost_usd: 0, hit_rate: 0 })
    expect(say(simulator)).toContain('offline')
    expect(before.status).toBe(200)
  })

  test('an unknown call gets an error', async () => {
    expect(await control(createSimulator(), 'nothing')).toEqual({
      status: 404,
      json: { error: 'no such call: GET /_sim/nothing' },
    })
  })
})
