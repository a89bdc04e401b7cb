import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Anthropic from '@anthropic-ai/sdk'
import OlderAnthropic from 'anthropic-sdk-0x'
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest'

import { createContext, memoryStore, type AgentStore, type Context, type ContextOptions } from 'palimpsest'
import { fileStore } from 'palimpsest/node'
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

test('a history that grows is one prefix: each request reads everything that the previous one sent', async () => {
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

  test('of the previous major', () => {
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

  test('of beta messages, of streams, and of requests written inline', () => {
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

  test('of literals written inline, for either major', async () => {
    const { client, simulator } = connect()
    const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
    const older = new OlderAnthropic({ apiKey: 'test', fetch, maxRetries: 0 })
    const context = open()
    const { request } = await context.prepare({
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Read it.' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Yes.' }] },
      ],
      max_tokens: 2_000,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      tools: [{ name: 'read', input_schema: { type: 'object', required: ['path'] } }],
      tool_choice: { type: 'auto' },
      thinking: { type: 'adaptive' },
      stream: true,
    })
    expectTypeOf(request.stream).toEqualTypeOf<true>()
    expectTypeOf(request).toExtend<Anthropic.MessageCreateParamsStreaming>()
    expectTypeOf(request).toExtend<OlderAnthropic.MessageCreateParamsStreaming>()
    const types: string[] = []
    for await (const event of await client.messages.create(request)) types.push(event.type)
    for await (const event of await older.messages.create(request)) types.push(event.type)
    expect(types.filter((type) => type === 'message_stop')).toHaveLength(2)
    const thinking = async () =>
      (
        await context.prepare({
          messages: [START],
          max_tokens: 2_000,
          thinking: { type: 'enabled', budget_tokens: 1_024 },
        })
      ).request
    expectTypeOf(thinking).returns.resolves.toExtend<Anthropic.MessageCreateParamsNonStreaming>()
    expectTypeOf(thinking).returns.resolves.toExtend<OlderAnthropic.MessageCreateParamsNonStreaming>()
  })

  test('autocomplete shows at most twelve names on a context', () => {
    expect(Object.keys(open()).length).toBeLessThanOrEqual(12)
  })
})

type Message = Anthropic.MessageParam

/** Rounds of a history that somebody led before: files were read. */
function rounds(count: number, chars: number): Message[] {
  return Array.from({ length: count }, (_, i): Message[] => {
    const id = `toolu_${i}`
    return [
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: { path: `file-${i}` } }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: id,
            content: `${i}: ${'The tide is high. '.repeat(chars / 18)}`,
          },
        ],
      },
    ]
  }).flat()
}

const START: Message = { role: 'user', content: 'Read all files. Never touch legacy.ts.' }

function controlsIn(request: {
  readonly system?: unknown
  readonly tools?: unknown
  readonly messages: unknown
}): number {
  const { system, tools: sent, messages } = request
  return JSON.stringify([system, sent, messages]).split('"cache_control"').length - 1
}

describe('breakpoints of the owner', () => {
  const control = { type: 'ephemeral' } as const

  test('stay where they were set, and ours use what is left of four', async () => {
    const { client } = connect()
    const context = open()
    const messages: Message[] = [
      { role: 'user', content: [{ type: 'text', text: 'A long brief.', cache_control: control }] },
      { role: 'assistant', content: 'Understood.' },
      { role: 'user', content: 'Go.' },
    ]
    const system = [{ type: 'text', text: SYSTEM, cache_control: { type: 'ephemeral', ttl: '5m' } }] as const
    const { request } = await context.prepare({ system: [...system], messages, max_tokens: 100 })
    expect(request.system).toEqual(system)
    expect(request.messages[0]).toEqual(messages[0])
    expect(controlsIn(request)).toBe(3)
    expect((await client.messages.create(request)).type).toBe('message')
  })

  test('may use all four, first an hour and then five minutes', async () => {
    const { client } = connect()
    const context = open()
    const marked = (text: string, ttl: '5m' | '1h'): Message => ({
      role: 'user',
      content: [{ type: 'text', text, cache_control: { type: 'ephemeral', ttl } }],
    })
    const said: Message = { role: 'assistant', content: 'Yes.' }
    const messages = [
      marked('a', '1h'),
      said,
      marked('b', '1h'),
      said,
      marked('c', '5m'),
      said,
      marked('d', '5m'),
    ]
    const { request } = await context.prepare({ system: SYSTEM, messages, max_tokens: 100 })
    expect(request.messages.map(({ content }) => JSON.stringify(content).includes('cache_control'))).toEqual(
      messages.map(({ content }) => JSON.stringify(content).includes('cache_control')),
    )
    expect(controlsIn(request)).toBe(4)
    expect((await client.messages.create(request)).type).toBe('message')
  })

  test('move without another prefix', async () => {
    const context = open()
    const first: Message = { role: 'user', content: [{ type: 'text', text: 'One.', cache_control: control }] }
    await context.prepare({ messages: [first], max_tokens: 100 })
    const moved: Message[] = [
      { role: 'user', content: 'One.' },
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: [{ type: 'text', text: 'Two.', cache_control: control }] },
    ]
    const { plan } = await context.prepare({ messages: moved, max_tokens: 100 })
    expect(plan.history).toEqual({ change: 'appended', from: 1 })
  })
})

describe.each([
  ['in memory', memoryStore],
  ['in files', undefined],
])('a context that is stored %s', (_, make) => {
  async function storeFor(): Promise<AgentStore> {
    if (make) return make()
    const folder = await mkdtemp(join(tmpdir(), 'context-'))
    onTestFinished(async () => await rm(folder, { recursive: true, force: true }))
    return fileStore(folder)
  }

  test('is resumed in another process, byte for byte', async () => {
    const store = await storeFor()
    const { client } = connect([say('First.'), say('Second.')])
    const first = createContext({ model: MODEL, store, window: 20_000 })
    const messages = [START, ...rounds(30, 1_800), { role: 'user', content: 'What now?' } as const]
    const { request } = await first.prepare({ system: SYSTEM, messages, max_tokens: 500 })
    const answer = await client.messages.create(request)
    await first.observe(answer)
    const id = await first.id()
    await first.close()
    const second = open({ store, id, window: 20_000 })
    const more: Message[] = [
      ...structuredClone(messages),
      { role: 'assistant', content: answer.content },
      { role: 'user', content: 'And then?' },
    ]
    const next = await second.prepare({ system: SYSTEM, messages: more, max_tokens: 500 })
    expect(next.plan.history).toEqual({ change: 'appended', from: messages.length + 1 })
    const bare = (list: readonly unknown[]) =>
      JSON.parse(
        JSON.stringify(list, (name, value: unknown) => (name === 'cache_control' ? undefined : value)),
      )
    expect(bare(next.request.messages.slice(0, request.messages.length))).toEqual(bare(request.messages))
    await client.messages.create(next.request)
  })

  test('compacts when asked, reports what left, undoes it, pins and restores', async () => {
    const { client } = connect()
    const context = open({ store: await storeFor() })
    const messages = [START, ...rounds(20, 3_600), { role: 'user', content: 'What now?' } as const]
    const input = { system: SYSTEM, messages, max_tokens: 500 }
    const whole = await context.prepare(input)
    expect(await context.pin(2)).toMatchObject({ kind: 'pinned' })
    expect(await context.compact()).toMatchObject({ kind: 'compacted' })
    const compacted = await context.prepare(input)
    expect(compacted.request.messages.length).toBeLessThan(whole.request.messages.length)
    expect(JSON.stringify(compacted.request.messages)).toContain('Never touch legacy.ts')
    expect(JSON.stringify(compacted.request.messages)).toContain('0: The tide is high')
    expect((await client.messages.create(compacted.request)).type).toBe('message')
    const { removals, used } = await context.describe()
    expect(used).toBeLessThan(whole.plan.tokens)
    const boundary = removals.find(({ layer }) => layer >= 3)
    expect(await context.undo(boundary?.id ?? '')).toMatchObject({ kind: 'undone' })
    const again = await context.prepare(input)
    expect(again.request.messages.length).toBe(whole.request.messages.length)
    const recalled = await context.recall('toolu_3')
    const id = recalled.kind === 'texts' ? (recalled.texts[0]?.id ?? '') : ''
    expect(await context.restore(id)).toMatchObject({ kind: 'restored' })
    const restored = await context.prepare(input)
    expect(restored.request.messages.length).toBe(whole.request.messages.length + 1)
  })
})

test('after an undo the percentage left refers to the size at which it really compacts', async () => {
  const context = open({ window: 30_000 })
  const messages = [START, ...rounds(8, 3_600), { role: 'user', content: 'What now?' } as const]
  const input = { system: SYSTEM, messages, max_tokens: 500 }
  const before = (await context.prepare(input)).plan
  await context.compact()
  await context.undo((await context.describe()).removals.at(-1)?.id ?? '')
  const { plan } = await context.prepare(input)
  expect(plan.tokens).toBe(before.tokens)
  expect(plan.percentLeft).toBeGreaterThan(before.percentLeft)
  expect(plan.percentLeft).toBe((await context.describe()).report.percentLeft)
})

describe('an owner who returns to an earlier history and then says something else', () => {
  const ask = async (context: Context, messages: Message[], client?: Anthropic) => {
    const { request, plan } = await context.prepare({ system: SYSTEM, tools, messages, max_tokens: 500 })
    if (client) await context.observe(await client.messages.create(request))
    return { plan, text: JSON.stringify(request.messages) }
  }

  test('may return to a history of any length', async () => {
    const context = open()
    const long = Array.from({ length: 12_000 }, (_, i): Message => {
      return { role: i % 2 === 0 ? 'user' : 'assistant', content: `${i}` }
    })
    await ask(context, [...long, { role: 'user', content: 'And now?' }])
    await ask(context, [{ role: 'user', content: 'Something else.' }])
    const { plan } = await ask(context, [...long.slice(0, 2), { role: 'user', content: 'No.' }])
    expect(plan.history.change).toBe('returned')
  })

  test.each(['in one process', 'in another process'])(
    'gets the decisions of the branch they were on last, not of the branch created last (%s)',
    async (where) => {
      const { client } = connect()
      const store = memoryStore()
      let context = createContext({ model: MODEL, store })
      const shared = [START, ...rounds(20, 3_600)]
      const [b, c, d] = ['B', 'C', 'D'].map((content): Message[] => [...shared, { role: 'user', content }])
      await ask(context, b ?? [], client)
      await ask(context, c ?? [], client)
      await ask(context, b ?? [], client)
      expect(await context.compact()).toMatchObject({ kind: 'compacted' })
      const atB = await ask(context, b ?? [], client)
      expect(atB.text).toContain('This conversation continues')
      await ask(context, [{ role: 'user', content: 'Something else.' }], client)
      if (where === 'in another process') {
        const id = await context.id()
        await context.close()
        context = createContext({ model: MODEL, store, id })
      }
      const atD = await ask(context, d ?? [], client)
      await context.close()
      expect(atD.text).toContain('This conversation continues')
    },
  )
})

describe('a refusal because of size', () => {
  test('is answered with a smaller request, within the limit that it names', async () => {
    const { client, simulator } = connect()
    const context = open()
    const messages = [START, ...rounds(30, 3_600), { role: 'user', content: 'What now?' } as const]
    const { request, plan } = await context.prepare({ system: SYSTEM, messages, max_tokens: 500 })
    simulator.addFaults([{ match: {}, times: 1, fault: { type: 'prompt_too_long', format: 'anthropic' } }])
    const refused: unknown = await client.messages.create(request).catch((error: unknown) => error)
    const retry = await context.recover(refused)
    expect(retry.plan.tokens).toBeLessThan(0.8 * plan.tokens)
    expect(retry.plan.actions.map(({ kind }) => kind)).toContain('compacted')
    const answer = await client.messages.create(retry.request)
    await context.observe(answer)
    const next = [
      ...messages,
      { role: 'assistant', content: answer.content },
      { role: 'user', content: 'Go on.' },
    ] as const
    const later = await context.prepare({ system: SYSTEM, messages: [...next], max_tokens: 500 })
    expect(later.plan.tokens).toBeLessThan(0.8 * plan.tokens)
  })

  test('that nothing can shrink ends in one sentence; another error is passed on unchanged', async () => {
    const context = open()
    await context.prepare({ messages: [START], max_tokens: 500 })
    await expect(
      context.recover(new Error('prompt is too long: 250000 tokens > 200000 maximum')),
    ).rejects.toThrow(/nothing more can be removed from it.*larger window/s)
    const other = new Error('overloaded')
    await expect(context.recover(other)).rejects.toBe(other)
  })
})

test('summaries are requested through `send` and marked as such', async () => {
  const { client, simulator } = connect()
  const context = open({ send: (request, options) => client.messages.create(request, options) })
  const messages = [START, ...rounds(20, 3_600), { role: 'user', content: 'What now?' } as const]
  const { request } = await context.prepare({ system: SYSTEM, messages, max_tokens: 500 })
  await context.observe(await client.messages.create(request))
  expect(await context.compact('Keep the names of all files.')).toMatchObject({ kind: 'compacted' })
  const [own, ...ours] = simulator.requests().map(({ headers }) => headers['x-palimpsest-source'])
  expect([own, ...new Set(ours)]).toEqual([undefined, 'compact'])
})

test('an answer that its owner stores without thinking is the same answer', async () => {
  const { client, simulator } = connect([
    {
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'First.' },
      ],
    },
    say('Second.'),
  ])
  const context = open()
  const input = { system: SYSTEM, thinking: { type: 'adaptive' } as const, max_tokens: 500 }
  const question: Message = { role: 'user', content: 'What now?' }
  const { request } = await context.prepare({ ...input, messages: [question] })
  const answer = await client.messages.create(request)
  await context.observe(answer)
  const kept = answer.content.filter(({ type }) => type !== 'thinking')
  const messages: Message[] = [
    question,
    { role: 'assistant', content: kept },
    { role: 'user', content: 'And then?' },
  ]
  const next = await context.prepare({ ...input, messages })
  expect(next.plan.history).toEqual({ change: 'appended', from: 2 })
  expect(JSON.stringify(next.request.messages)).not.toContain('"thinking"')
  await client.messages.create(next.request)
  expect(simulator.requests()[1]?.usage?.cache_read_input_tokens).toBeGreaterThan(0)
})
