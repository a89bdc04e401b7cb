import Anthropic from '@anthropic-ai/sdk'
import OlderAnthropic from 'anthropic-sdk-0x'
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest'

import { createContext, type Context, type ContextOptions } from 'palimpsest'
import { createSimulator, type ScriptStep, type Simulator } from 'palimpsest/simulator'

// For callers that own their history: the real SDKs, the public path, and the simulator behind the client's `fetch`.

const MODEL = 'claude-sonnet-5-5'
const SYSTEM = 'You keep a shop. '.repeat(300)
const say = (text: string): ScriptStep => ({ content: [{ type: 'text', text }] })
const tools: Anthropic.Tool[] = [
  { name: 'read', description: 'Reads a file.', input_schema: { type: 'object', properties: {} } },
]

function connect(script: readonly ScriptStep[] = []): { client: Anthropic; simulator: Simulator } {
  const simulator = createSimulator({ script })
  const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
  return { simulator, client: new Anthropic({ apiKey: 'test', fetch, maxRetries: 0 }) }
}

function open(options: Partial<ContextOptions> = {}): Context {
  const context = createContext({ model: MODEL, ...options })
  onTestFinished(async () => await context.close())
  return context
}

test('a history that grows is one prefix: each request reads all that its predecessor carried', async () => {
  const { client, simulator } = connect(
    [1, 2, 3, 4].map((n) => say(`Answer ${n}. ${'It is so. '.repeat(50)}`)),
  )
  const context = open()
  const messages: Anthropic.MessageParam[] = []
  for (const n of [1, 2, 3, 4]) {
    messages.push({ role: 'user', content: `Question ${n}? ${'Tell me all. '.repeat(100)}` })
    const { request, plan } = await context.prepare({ system: SYSTEM, tools, messages, max_tokens: 1_000 })
    expect(plan.history).toEqual({ change: 'appended', from: 2 * (n - 1) })
    const answer = await client.messages.create(request)
    expect(await context.observe(answer)).toEqual({ cacheBreak: undefined })
    messages.push({ role: 'assistant', content: answer.content })
  }
  const [first, ...later] = simulator.requests()
  expect(first?.status).toBe(200)
  let carried = first?.input_tokens ?? 0
  for (const request of later) {
    expect(request.usage?.cache_read_input_tokens).toBe(carried)
    carried = request.input_tokens
  }
})

describe('the types are those of the SDK, without a cast', () => {
  test('of the current major', () => {
    const client = new Anthropic({ apiKey: 'test' })
    const context = open({ send: (request, options) => client.messages.create(request, options) })
    const ask = async (input: Anthropic.MessageCreateParamsNonStreaming) => {
      const { request } = await context.prepare(input)
      const answer = await client.messages.create(request)
      await context.observe(answer)
      await client.messages.create((await context.recover(new Error('prompt is too long'))).request)
      return answer
    }
    expectTypeOf(ask).returns.resolves.toExtend<Anthropic.Message>()
  })

  test('of the major before', () => {
    const client = new OlderAnthropic({ apiKey: 'test' })
    const context = open({ send: (request, options) => client.messages.create(request, options) })
    const ask = async (input: OlderAnthropic.MessageCreateParamsNonStreaming) => {
      const { request } = await context.prepare(input)
      const answer = await client.messages.create(request)
      await context.observe(answer)
      await client.messages.create((await context.recover(new Error('prompt is too long'))).request)
      return answer
    }
    expectTypeOf(ask).returns.resolves.toExtend<OlderAnthropic.Message>()
  })

  test('of beta messages, of streams, and of what is written in place', () => {
    const client = new Anthropic({ apiKey: 'test' })
    const context = open()
    const beta = async (input: Anthropic.Beta.MessageCreateParamsNonStreaming) =>
      await client.beta.messages.create((await context.prepare(input)).request)
    const stream = async (input: Anthropic.MessageStreamParams) =>
      await client.messages.stream((await context.prepare(input)).request).finalMessage()
    const inPlace = async () => {
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello.' }]
      return await client.messages.create((await context.prepare({ messages, max_tokens: 100 })).request)
    }
    expectTypeOf(beta).returns.resolves.toExtend<Anthropic.Beta.BetaMessage>()
    expectTypeOf(stream).returns.resolves.toExtend<Anthropic.Message>()
    expectTypeOf(inPlace).returns.resolves.toExtend<Anthropic.Message>()
  })

  test('autocomplete shows at most twelve names on a context', () => {
    expect(Object.keys(open()).length).toBeLessThanOrEqual(12)
  })
})
