import { describe, expect, test } from 'vitest'

import { drive } from '../../packages/palimpsest/src/drive.ts'
import { openChatServer, type ChatReply } from '../kit/chat-server.ts'
import { CLOSED_URL } from '../kit/closed-port.ts'
import { ProviderError } from '../../packages/palimpsest/src/errors.ts'
import { collectResponse } from '../../packages/palimpsest/src/loop/answers/collect-response.ts'
import {
  OVERFLOW_FORMATS,
  overflowBody,
} from '../../packages/palimpsest/src/lab/simulator/overflow-formats.ts'
import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import {
  createAiSdkModel,
  type AiSdkOptions,
} from '../../packages/palimpsest/src/providers/ai-sdk/create-ai-sdk-model.ts'

// The AI SDK as it is published, against a strict server on a real socket.

const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
const TOOLS = [
  {
    name: 'Read',
    description: 'Reads.',
    input_schema: { type: 'object', properties: { path: { type: 'string' } } },
  },
]

describe('requests', () => {
  test('calls, results, images and adjacent messages of one role get the order that chat templates require', async () => {
    const server = await openChatServer([{ text: 'Done.' }])
    await ask(server.url, {
      system: [
        { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'Be right.' },
      ],
      tools: TOOLS,
      tool_choice: { type: 'any' },
      messages: [
        { role: 'user', content: 'First.' },
        { role: 'user', content: [{ type: 'text', text: 'Second.' }, IMAGE] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: '' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'a', name: 'Read', input: { path: 'x' } },
            { type: 'tool_use', id: 'b', name: 'Read', input: { path: 'y' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: '' },
            {
              type: 'tool_result',
              tool_use_id: 'b',
              is_error: true,
              content: [{ type: 'text', text: 'no such file' }, IMAGE],
            },
            { type: 'text', text: 'And now?' },
          ],
        },
      ],
    })
    const { messages, tools, tool_choice: choice } = server.requests[0]?.body ?? {}
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
    const call = (id: string, path: string): JsonObject => ({
      id,
      type: 'function',
      function: { name: 'Read', arguments: `{"path":"${path}"}` },
    })
    expect(messages).toEqual([
      { role: 'system', content: 'Be brief.\n\nBe right.' },
      {
        role: 'user',
        content: [{ type: 'text', text: 'First.' }, { type: 'text', text: 'Second.' }, picture],
      },
      { role: 'assistant', content: 'I look.', tool_calls: [call('a', 'x'), call('b', 'y')] },
      { role: 'tool', tool_call_id: 'a', content: '(no output)' },
      {
        role: 'tool',
        tool_call_id: 'b',
        content: 'no such file\n(an image: it follows with the next message)',
      },
      { role: 'user', content: [picture, { type: 'text', text: 'And now?' }] },
    ])
    expect(tools).toEqual([
      {
        type: 'function',
        function: { name: 'Read', description: 'Reads.', parameters: TOOLS[0]?.input_schema },
      },
    ])
    expect(choice).toBe('required')
  })

  test('the same conversation is sent with the same bytes, and what follows only appends to them', async () => {
    const server = await openChatServer([{ text: 'One.' }, { text: 'Two.' }])
    const first = [{ role: 'user', content: 'Hello.' }]
    await ask(server.url, { messages: first })
    const second = await ask(server.url, {
      messages: [...first, { role: 'assistant', content: 'One.' }, { role: 'user', content: 'More.' }],
    })
    const [before, after] = server.requests.map(({ body }) => JSON.stringify(body['messages']).slice(0, -1))
    expect(after?.startsWith(before ?? '?')).toBe(true)
    expect(second.response.usage.cache_read_input_tokens).toBe(server.requests[1]?.cachedTokens)
    expect(second.response.usage.cache_read_input_tokens).toBeGreaterThan(0)
  })

  test('the key is sent as a bearer token, and nothing is sent if there is none', async () => {
    const server = await openChatServer([{ text: 'a' }, { text: 'b' }])
    await ask(server.url, {}, { apiKey: 'secret' })
    await ask(server.url, {})
    expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer secret',
      undefined,
    ])
  })
})

describe('answers', () => {
  test('interleaved pieces of reasoning, text and calls become whole blocks, one after the other', async () => {
    const calls = [
      { id: 'call_1', name: 'Read', arguments: '{"path":"a"}' },
      { id: 'call_2', name: 'Read', arguments: '{"path":"b"}' },
    ]
    const server = await openChatServer([{ reasoning: 'First a, then b.', text: 'Both of them.', calls }])
    const { response } = await ask(server.url, { tools: TOOLS })
    expect(response.content).toEqual([
      { type: 'thinking', thinking: 'First a, then b.', signature: '' },
      { type: 'text', text: 'Both of them.' },
      { type: 'tool_use', id: 'call_1', name: 'Read', input: { path: 'a' } },
      { type: 'tool_use', id: 'call_2', name: 'Read', input: { path: 'b' } },
    ])
    expect(response.stop_reason).toBe('tool_use')
    const { promptTokens } = server.requests[0] ?? { promptTokens: 0 }
    expect(response.usage).toMatchObject({ input_tokens: promptTokens, cache_read_input_tokens: 0 })
  })

  test('ids that cannot be file names, or that occurred before, are replaced', async () => {
    const calls = [
      { id: 'functions.Read:0', name: 'Read', arguments: '{}' },
      { id: 'used', name: 'Read', arguments: '' },
    ]
    const server = await openChatServer([{ calls, finish: 'stop' }])
    const { response } = await ask(server.url, {
      tools: TOOLS,
      messages: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'used', name: 'Read', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'used', content: 'x' }] },
      ],
    })
    expect(response.content).toEqual([
      { type: 'tool_use', id: 'functions_Read_0', name: 'Read', input: {} },
      { type: 'tool_use', id: 'used-2', name: 'Read', input: {} },
    ])
    expect(response.stop_reason).toBe('tool_use')
  })

  test('if a server counts nothing, an estimate is used, never an empty prompt', async () => {
    const server = await openChatServer([{ text: 'Yes.' }], { reportsUsage: false })
    const { response } = await ask(server.url, { messages: [{ role: 'user', content: 'word '.repeat(400) }] })
    expect(response.usage.input_tokens).toBeGreaterThan(300)
    expect(response.usage.output_tokens).toBeGreaterThan(0)
  })

  test.each([
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['stop', 'end_turn'],
  ])('an answer that ended with %s ends with %s', async (finish, reason) => {
    const server = await openChatServer([{ text: 'So', finish }])
    expect((await ask(server.url, {})).response.stop_reason).toBe(reason)
  })
})

describe('failures', () => {
  test.each(OVERFLOW_FORMATS)(
    '$name: a prompt that is too long, refused or inside a stream',
    async (format) => {
      const body = JSON.stringify(overflowBody(format, { tokens: 9_000, most: 8_000 }, 'req_1'))
      const inside = JSON.stringify({ error: { message: format.message } })
      const replies: ChatReply[] = [
        { error: { status: format.status, body } },
        { error: { status: 500, body: JSON.stringify({ error: format.message }) } },
        { raw: `data: ${inside}\n\n` },
      ]
      const server = await openChatServer(replies)
      for (const _ of replies) expect((await failure(server.url)).failure.kind).toBe('context-overflow')
    },
  )

  test.each<[string, ChatReply, ProviderError['failure'], RegExp]>([
    [
      'a refused key',
      { error: { status: 401, body: '{"error":{"message":"Invalid API key"}}' } },
      { kind: 'unauthorized' },
      /Invalid API key.*Set OPENAI_API_KEY/,
    ],
    [
      'a model that does not exist',
      { error: { status: 404, body: '{"error":"model \\"x\\" not found, try pulling it first"}' } },
      { kind: 'invalid-request', status: 404 },
      /not found, try pulling it first.*--model/,
    ],
    [
      'a rate limit',
      { error: { status: 429, body: '{"message":"slow down"}', headers: { 'retry-after': '3' } } },
      { kind: 'rate-limited', retryAfterMs: 3_000 },
      /slow down/,
    ],
    [
      'a server that is down',
      { error: { status: 502, body: '<html>bad gateway</html>' } },
      { kind: 'transport' },
      /502: a page of HTML/,
    ],
    [
      'a stream that breaks off',
      { raw: 'data: {"choices":[{"index":0,"delta":{"content":"So"}}]}\n\n' },
      { kind: 'transport' },
      /cut off before its end/,
    ],
  ])('%s', async (_, reply, failed, message) => {
    const server = await openChatServer([reply])
    const error = await failure(server.url, { keyCure: 'Set OPENAI_API_KEY to a valid key.' })
    expect(error.failure).toEqual(failed)
    expect(error.message).toMatch(message)
  })

  test('a page of HTML instead of a stream names the base URL', async () => {
    const page = new Response('<html></html>', { headers: { 'content-type': 'text/html' } })
    const error = await failure('http://127.0.0.1:9/v1', { fetch: async () => page.clone() })
    expect(error.failure).toEqual({ kind: 'bad-output' })
    expect(error.message).toMatch(/text\/html.*base URL/)
  })

  test('nobody listens: the error says what to start, or which address to check', async () => {
    const reachCure = 'Start it with `serve`.'
    const error = await failure(`${CLOSED_URL}/v1`, { reachCure })
    expect(error.failure).toEqual({ kind: 'unreachable' })
    expect(error.message).toMatch(/^Nothing listens at 127\.0\.0\.1:\d+\. Start it with `serve`\.$/)
  })

  test('waiting for a silent server ends; an abort is an abort', async () => {
    const silent: typeof fetch = async (_, init) =>
      new Response(
        new ReadableStream({
          start: (to) => init?.signal?.addEventListener('abort', () => to.error(init.signal?.reason)),
        }),
        {
          headers: { 'content-type': 'text/event-stream' },
        },
      )
    const error = await failure('http://127.0.0.1:9/v1', { fetch: silent, times: { silentMsMax: 20 } })
    expect(error.message).toMatch(/No answer came/)
    const stop = new AbortController()
    const asked = ask('http://127.0.0.1:9/v1', {}, { fetch: silent }, stop.signal)
    stop.abort(new Error('enough'))
    await expect(asked).rejects.toThrow('enough')
  })
})

async function failure(url: string, options: Partial<AiSdkOptions> = {}): Promise<ProviderError> {
  const error: unknown = await ask(url, {}, options).catch((thrown: unknown) => thrown)
  if (error instanceof ProviderError) return error
  throw new Error(`no ProviderError: ${String(error)}`, { cause: error })
}

async function ask(
  baseUrl: string,
  body: JsonObject,
  options: Partial<AiSdkOptions> = {},
  signal = new AbortController().signal,
) {
  const model = createAiSdkModel({ baseUrl, modelName: (name) => name.replace('server/', ''), ...options })
  const whole = {
    model: 'server/m',
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content: 'Hello.' }],
    ...body,
  }
  const request = { body: JSON.stringify(whole), betas: [], model: 'server/m', source: 'main' as const }
  return await drive(collectResponse(model(request, signal)))
}
