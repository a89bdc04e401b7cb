import { describe, expect, test } from 'vitest'
import { createSimulator, type Simulator } from './create-simulator.ts'

const BODY = { model: 'claude-opus-5-5', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }
const OLDER = { 'x-api-key': 'sk-test-0123456789', 'anthropic-version': '2023-06-01' }
const NEWER = { authorization: 'Bearer sk-test-0123456789', 'anthropic-version': '2026-10-21' }

function call(simulator: Simulator, method: string, path: string, init: RequestInit = {}): Promise<Response> {
  return simulator.fetch(new Request(`http://simulator${path}`, { method, headers: OLDER, ...init }))
}

function post(
  simulator: Simulator,
  path: string,
  body: unknown,
  headers: { [name: string]: string } = OLDER,
): Promise<Response> {
  return call(simulator, 'POST', path, { body: JSON.stringify(body), headers })
}

describe('routes', () => {
  test.each([
    ['/v1/messages', OLDER],
    ['/v1/messages?beta=true', OLDER],
    ['/v1/messages', NEWER],
    ['/v1/messages/', NEWER],
  ])('POST %s is answered for both generations of clients', async (path, headers) => {
    const response = await post(createSimulator(), path, BODY, headers)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('request-id')).toMatch(/^req_/)
    expect(await response.json()).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-5-5',
    })
  })

  test('count_tokens needs no max_tokens', async () => {
    const { max_tokens: _, ...body } = BODY
    const response = await post(
      createSimulator({ tokens: 'characters' }),
      '/v1/messages/count_tokens?beta=true',
      body,
    )
    expect(await response.json()).toEqual({ input_tokens: 2 })
  })

  test('a prompt over the window is refused with its own size, but can still be counted', async () => {
    const simulator = createSimulator()
    const long = {
      ...BODY,
      model: 'claude-haiku-4-5',
      messages: [{ role: 'user', content: '中'.repeat(220_000) }],
    }
    const counted = (await (await post(simulator, '/v1/messages/count_tokens', long)).json()) as {
      input_tokens: number
    }
    expect(counted.input_tokens).toBeGreaterThan(200_000)
    const refused = await post(simulator, '/v1/messages', long)
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: {
        type: 'invalid_request_error',
        message: `prompt is too long: ${counted.input_tokens} tokens > 200000 maximum`,
      },
    })
  })

  test('HEAD /api/hello is the probe of one client', async () => {
    expect((await call(createSimulator(), 'HEAD', '/api/hello')).status).toBe(200)
  })

  test('any other path is not found, in the form of the API (http.route)', async () => {
    const response = await call(createSimulator(), 'GET', '/v1/elsewhere')
    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({
      type: 'error',
      error: { type: 'not_found_error', message: 'Not Found' },
      request_id: expect.stringMatching(/^req_/),
    })
  })

  test.each([
    ['GET', '/v1/messages'],
    ['DELETE', '/v1/models'],
  ])('%s %s is not allowed (http.method)', async (method, path) => {
    const response = await call(createSimulator(), method, path)
    expect(response.status).toBe(405)
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', message: 'Method Not Allowed' },
    })
  })
})

describe('models', () => {
  test('are paged forwards and backwards', async () => {
    const simulator = createSimulator()
    const page = async (
      query: string,
    ): Promise<{ data: { id: string }[]; has_more: boolean; last_id: string }> =>
      (await (await call(simulator, 'GET', `/v1/models?${query}`)).json()) as never
    const first = await page('limit=2')
    expect(first).toMatchObject({ has_more: true, last_id: first.data[1]?.id })
    const second = await page(`limit=2&after_id=${first.last_id}`)
    expect(second.data[0]?.id).not.toBe(first.data[0]?.id)
    const before = await page(`before_id=${second.data[0]?.id}`)
    expect(before.data.map(({ id }) => id)).toEqual(first.data.map(({ id }) => id))
    const all = await page('limit=1000')
    expect(all.has_more).toBe(false)
    expect(all.data.map(({ id }) => id)).toContain('claude-sonnet-5-5')
    expect(all.data.every(({ id }) => id.startsWith('claude-'))).toBe(true)
  })

  test('a badly encoded id is not a model', async () => {
    const response = await call(createSimulator(), 'GET', '/v1/models/%ff')
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { message: 'model: %ff' } })
  })

  test('report their windows and capabilities', async () => {
    const response = await call(createSimulator(), 'GET', '/v1/models/claude-opus-5-5')
    expect(await response.json()).toMatchObject({
      id: 'claude-opus-5-5',
      type: 'model',
      display_name: 'Claude Opus 5.5',
      line: 'opus',
      max_input_tokens: 1_000_000,
      max_tokens: 128_000,
      capabilities: {
        context_management: { supported: true, compact_20260112: { supported: true } },
        thinking: { types: { adaptive: { supported: true }, enabled: { supported: false } } },
      },
    })
  })

  test('can be hit by a fault', async () => {
    const simulator = createSimulator({
      faults: [{ match: { path: '/v1/models' }, fault: { type: 'status', status: 503 } }],
    })
    expect((await call(simulator, 'GET', '/v1/models')).status).toBe(503)
    expect((await call(simulator, 'GET', '/v1/models')).status).toBe(200)
    // One that names no path waits for a message.
    simulator.addFaults([{ fault: { type: 'status', status: 529 } }])
    expect((await call(simulator, 'GET', '/v1/models')).status).toBe(200)
    expect((await call(simulator, 'POST', '/v1/messages')).status).toBe(529)
  })

  test('are returned only to those with a key, and only if they exist', async () => {
    const simulator = createSimulator()
    expect((await call(simulator, 'GET', '/v1/models/claude-nobody')).status).toBe(404)
    expect((await call(simulator, 'GET', '/v1/models', { headers: {} })).status).toBe(401)
  })
})

describe('the log', () => {
  test('contains what was sent and its outcome, and no secret', async () => {
    const simulator = createSimulator({ clock: { kind: 'virtual', start: Date.UTC(2026, 10, 15) } })
    await post(simulator, '/v1/messages', BODY)
    await post(simulator, '/v1/messages', { ...BODY, max_tokens: -1 }, NEWER)
    const log = (await (await call(simulator, 'GET', '/_sim/requests')).json()) as object[]
    expect(log).toEqual([
      {
        id: expect.stringMatching(/^req_/),
        at: '2026-11-15T00:00:00.000Z',
        path: '/v1/messages',
        headers: expect.objectContaining({ 'x-api-key': '***6789', 'anthropic-version': '2023-06-01' }),
        body: BODY,
        status: 200,
        usage: expect.objectContaining({ input_tokens: expect.any(Number) }),
        cost_usd: expect.any(Number),
        input_tokens: expect.any(Number),
        common_prefix_tokens: 0,
        prefix_of: null,
        cache_explanation: { kind: 'no-breakpoint' },
      },
      {
        id: expect.stringMatching(/^req_/),
        at: '2026-11-15T00:00:00.000Z',
        path: '/v1/messages',
        headers: expect.objectContaining({ authorization: 'Bearer ***6789' }),
        body: { ...BODY, max_tokens: -1 },
        status: 400,
        error: {
          type: 'invalid_request_error',
          message: 'max_tokens: Input should be greater than or equal to 0',
        },
        usage: null,
        cost_usd: 0,
        input_tokens: 0,
        common_prefix_tokens: 0,
        prefix_of: null,
        cache_explanation: null,
      },
    ])
    expect(JSON.stringify(log)).not.toContain('sk-test')
  })

  test('names the earlier request with the longest common prefix', () => {
    const simulator = createSimulator({ clock: 'virtual', tokens: 'characters' })
    const ask = (...texts: string[]): void => {
      const messages = texts.map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }))
      simulator.answer({ ...BODY, messages })
    }
    ask('aaaa')
    ask('aaaa', 'bbb', 'cc')
    ask('aaaa', 'bbb', 'dd')
    ask('aaaa', 'bbb', 'cc', 'e', 'f')
    ask('z')
    const [first, second] = simulator.requests()
    expect(simulator.requests().map((r) => [r.common_prefix_tokens, r.prefix_of])).toEqual([
      [0, null],
      [4, first?.id],
      [7, second?.id],
      [9, second?.id],
      [0, null],
    ])
  })

  test('drops the oldest bodies above its bound, and nothing else', async () => {
    const simulator = createSimulator({ logCharsMax: 3_000 })
    for (const letter of 'abcde') {
      const messages = [{ role: 'user', content: letter.repeat(900) }]
      await post(simulator, '/v1/messages', { ...BODY, messages })
    }
    const bodies = simulator.requests().map(({ body }) => body === null)
    expect(bodies).toEqual([true, true, false, false, false])
    expect(simulator.stats().requests).toBe(5)
  })

  test('returns a body that is not JSON as a string', async () => {
    const simulator = createSimulator()
    await call(simulator, 'POST', '/v1/messages', { body: '{oops' })
    const log = (await (await call(simulator, 'GET', '/_sim/requests')).json()) as { body: unknown }[]
    expect(log[0]?.body).toBe('{oops')
  })
})
