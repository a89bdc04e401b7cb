import Anthropic from '@anthropic-ai/sdk'
import OlderAnthropic from 'anthropic-sdk-0x'
import { describe, expect, expectTypeOf, test } from 'vitest'

import { createAgent, createContext } from 'palimpsest'
import { withPalimpsest } from 'palimpsest/anthropic'
import { createSimulator, STRICT_SWITCHES, type ScriptStep, type Simulator } from 'palimpsest/simulator'
import { findModelFacts } from 'palimpsest/wire'

import { readsAllOfItsPredecessor } from '../kit/reads-all.ts'

// The client of the SDK with one line around it, both majors. The simulator answers, refuses what does not fit, and accounts for the cache.

const MODEL = 'claude-sonnet-5-5'
const WINDOW = 60_000
const STEPS = process.env['SOAK'] ? 300 : 24
/** They fill the window more than once. */
const RESULT_LINES = process.env['SOAK'] ? 24 : 180
/** Of some hundred words, in windows that hold less than ten. */
const QUESTIONS = process.env['SOAK'] ? 16 : 12
const TALK_TURNS = process.env['SOAK'] ? 30 : 16

/** The clients are alike enough to be asked the same way. */
const older = OlderAnthropic as unknown as typeof Anthropic

/** Version 1 lets the server hold the conversation where it can, which the simulator does not. */
const SDKS = [
  ['1.8', Anthropic, { thread: false }],
  ['0.137', older, {}],
] as const

interface Bench {
  readonly simulator: Simulator
  readonly options: {
    readonly apiKey: string
    readonly fetch: typeof globalThis.fetch
    readonly maxRetries: 0
  }
}

function bench(script: readonly ScriptStep[], contextWindow = WINDOW): Bench {
  const facts = findModelFacts(MODEL)
  const simulator = createSimulator({ script, models: facts ? [{ ...facts, contextWindow }] : [] })
  const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
  return { simulator, options: { apiKey: 'none', fetch, maxRetries: 0 } }
}

const say = (text: string): ScriptStep => ({ content: [{ type: 'text', text }] })

const lookUp = (step: number): ScriptStep => ({
  content: [{ type: 'tool_use', name: 'look_up', input: { page: step } }],
  stop_reason: 'tool_use',
})

const script = [...Array.from({ length: STEPS }, (_, step) => lookUp(step)), say('That was all of it.')]

const TOOL = {
  name: 'look_up',
  description: 'A page of the catalogue.',
  input_schema: { type: 'object' as const, properties: { page: { type: 'number' } } },
  parse: (input: unknown) => input,
  run: (input: unknown) => {
    const page = JSON.stringify(input)
    return Array.from(
      { length: RESULT_LINES },
      (_, line) => `${page} item ${line}: ${line * 7919} pieces`,
    ).join('\n')
  },
}

const textOf = (content: readonly object[]): string =>
  content.flatMap((block) => ('text' in block && typeof block.text === 'string' ? [block.text] : [])).join('')

const ASKED = {
  model: MODEL,
  max_tokens: 1_000,
  max_iterations: STEPS + 1,
  system: 'You read catalogues. '.repeat(400),
  tools: [TOOL],
  messages: [{ role: 'user' as const, content: 'Read the catalogue from its first page to its last.' }],
}

describe.each(SDKS)('a client of the SDK, version %s', (_version, Client, unthreaded) => {
  test(`runs ${STEPS} steps of its tool runner, and each reads everything that the previous one sent`, async () => {
    const { simulator, options } = bench(script)
    const client = withPalimpsest(new Client(options), { window: WINDOW })
    const last = await client.beta.messages.toolRunner(ASKED).runUntilDone()
    expect(last.content).toMatchObject([{ text: 'That was all of it.' }])
    const requests = simulator.requests()
    expect(requests.map(({ status }) => status).filter((status) => status !== 200)).toEqual([])
    expect(requests).toHaveLength(STEPS + 1)
    const { edits, misses } = readsAllOfItsPredecessor(requests)
    expect(misses).toEqual([])
    expect(edits).toBeGreaterThan(0)
    expect(edits).toBeLessThan(STEPS / 4)
  })

  test('fails without', async () => {
    const { options } = bench(script)
    const run = new Client(options).beta.messages.toolRunner({ ...ASKED, ...unthreaded }).runUntilDone()
    await expect(run).rejects.toThrow(/prompt is too long/)
  })

  test('is managed in each way of sending a request, and so are its copies', async () => {
    const { simulator, options } = bench([say('One.'), say('Two.'), say('Three.'), say('Four.')])
    const client = withPalimpsest(new Client(options), { window: WINDOW })
    const messages: { role: 'user' | 'assistant'; content: string }[] = []
    const asked = { model: MODEL, max_tokens: 100, system: ASKED.system, messages }
    const ask = (content: string): void => void messages.push({ role: 'user', content })
    const answer = (content: string): void => void messages.push({ role: 'assistant', content })
    ask('Say one.')
    const whole = await client.messages.create(asked)
    expect(whole.content).toMatchObject([{ text: 'One.' }])
    answer('One.')
    ask('Say two.')
    let streamed = ''
    for await (const event of await client.messages.create({ ...asked, stream: true }))
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
        streamed += event.delta.text
    expect(streamed).toBe('Two.')
    answer('Two.')
    ask('Say three.')
    expect(await client.messages.stream(asked).finalText()).toBe('Three.')
    answer('Three.')
    ask('Say four.')
    const copy = client.withOptions({ timeout: 10_000 })
    expect((await copy.beta.messages.create(asked)).content).toMatchObject([{ text: 'Four.' }])
    const requests = simulator.requests()
    expect(readsAllOfItsPredecessor(requests)).toEqual({ edits: 0, misses: [] })
    expect(requests.every(({ body }) => JSON.stringify(body).includes('cache_control'))).toBe(true)
    expect(JSON.stringify(messages)).not.toContain('cache_control')
  })

  test('recovers if a request is refused because of its size, and learns from it', async () => {
    const script = Array.from({ length: 20 }, (_, i) => say(`Answer ${i}. ${'It is so. '.repeat(200)}`))
    const { simulator, options } = bench(script, 14_000)
    const client = withPalimpsest(new Client(options))
    const messages: { role: 'user' | 'assistant'; content: string }[] = []
    for (let i = 0; i < QUESTIONS; i++) {
      messages.push({ role: 'user', content: `Question ${i}. ${'Is it so? '.repeat(200)}` })
      const { content } = await client.messages.create({ model: MODEL, max_tokens: 1_000, messages })
      messages.push({ role: 'assistant', content: textOf(content) })
    }
    const statuses = simulator.requests().map(({ status }) => status)
    expect(statuses.filter((status) => status !== 200)).toEqual([400])
    expect(statuses).toHaveLength(QUESTIONS + 1)
  })

  test('keeps several conversations apart, by content and by name', async () => {
    const { simulator, options } = bench([])
    const names: (string | undefined)[] = []
    const client = withPalimpsest(new Client(options), {
      onConversation: (_context, name) => names.push(name),
    })
    const asked = { model: MODEL, max_tokens: 100, system: ASKED.system }
    const talk = async (words: string, headers: Record<string, string> = {}): Promise<void> => {
      const messages: { role: 'user' | 'assistant'; content: string }[] = []
      for (const content of [words, 'And then?', 'And at last?']) {
        messages.push({ role: 'user', content })
        const { content: said } = await client.messages.create({ ...asked, messages }, { headers })
        messages.push({
          role: 'assistant',
          content: textOf(said),
        })
      }
    }
    await Promise.all([talk('Tell me about bolts.'), talk('Tell me about nuts.')])
    await talk('Tell me about bolts.', { 'x-palimpsest-conversation': 'shop-7' })
    expect(names).toEqual([undefined, undefined, 'shop-7'])
    const [bolts = '', nuts = ''] = ['bolts', 'nuts'].map((word) =>
      JSON.stringify(
        simulator.requests().filter(({ body }) => JSON.stringify(body).includes(`about ${word}`)),
      ),
    )
    expect(bolts).not.toContain('about nuts')
    expect(nuts).not.toContain('about bolts')
    expect(JSON.stringify(simulator.requests())).not.toContain('x-palimpsest-conversation')
  })

  test('answers parallel requests on one history, each as a separate conversation', async () => {
    const { simulator, options } = bench([])
    let begun = 0
    const client = withPalimpsest(new Client(options), { onConversation: () => begun++ })
    const messages = [{ role: 'user' as const, content: 'Tell me about bolts.' }]
    const asked = { model: MODEL, max_tokens: 100, messages }
    const first = await client.messages.create(asked)
    const said = { role: 'assistant' as const, content: textOf(first.content) }
    const next = (content: string) =>
      client.messages.create({ ...asked, messages: [...messages, said, { role: 'user', content }] })
    await Promise.all(['And nuts?', 'And screws?', 'And nails?'].map(next))
    expect(begun).toBe(3)
    expect(simulator.requests().map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  test('passes on requests that are not for messages', async () => {
    const { simulator, options } = bench([])
    const client = withPalimpsest(new Client(options))
    const counted = await client.messages.countTokens({ model: MODEL, messages: ASKED.messages })
    expect(counted.input_tokens).toBeGreaterThan(0)
    const [model] = (await client.models.list()).data
    expect(model?.id).toBeTypeOf('string')
    expect(simulator.requests().map(({ path }) => path)).toEqual(['/v1/messages/count_tokens'])
  })

  test('reports what the server says of an invalid request', async () => {
    const { options } = bench([])
    const client = withPalimpsest(new Client(options))
    const wrong = { model: 'no-such-model', max_tokens: 1, messages: ASKED.messages }
    await expect(client.messages.create(wrong)).rejects.toThrow(/no-such-model/)
  })
})

test('the types are those of the client', () => {
  const client = withPalimpsest(new Anthropic({ apiKey: 'none' }))
  const olderClient = withPalimpsest(new OlderAnthropic({ apiKey: 'none' }))
  expectTypeOf(client).toEqualTypeOf<Anthropic>()
  expectTypeOf(olderClient).toEqualTypeOf<OlderAnthropic>()
  expect(client).toBeInstanceOf(Anthropic)
  expect(olderClient).toBeInstanceOf(OlderAnthropic)
})

test('summaries from a model are requested in a form that the provider accepts', async () => {
  const facts = findModelFacts(MODEL)
  const simulator = createSimulator({
    script: [{ ...say('A summary of it all.'), times: 200 }],
    models: facts ? [{ ...facts, contextWindow: 60_000 }] : [],
    switches: STRICT_SWITCHES,
  })
  const client = withPalimpsest(
    new Anthropic({ apiKey: 'none', fetch: (input, init) => simulator.fetch(new Request(input, init)) }),
    { window: 20_000, asksModel: true },
  )
  const messages: { role: 'user' | 'assistant'; content: string }[] = []
  for (let turn = 0; turn < TALK_TURNS; turn++) {
    messages.push({ role: 'user', content: `Question ${turn}. ${'More of it. '.repeat(250)}` })
    const { content } = await client.messages.create({ model: MODEL, max_tokens: 500, messages })
    messages.push({ role: 'assistant', content: textOf(content) })
  }
  const requests = simulator.requests()
  expect(requests.filter(({ status }) => status !== 200)).toEqual([])
  expect(requests.length).toBeGreaterThan(TALK_TURNS)
})

test.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY, 500])(
  'a window of %s is refused when it is set',
  (window) => {
    const cure = /`window` is .*: give the tokens that a request may fill, at least 1000/
    const { options } = bench([])
    expect(() => withPalimpsest(new Anthropic(options), { window })).toThrow(cure)
    expect(() => createContext({ model: MODEL, window })).toThrow(cure)
    expect(() => createAgent({ client: new Anthropic(options), model: MODEL, window })).toThrow(cure)
  },
)
