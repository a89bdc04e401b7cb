import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Anthropic from '@anthropic-ai/sdk'
import OlderAnthropic from 'anthropic-sdk-0x'
import { describe, expect, onTestFinished, test } from 'vitest'

import { createAgent, memoryStore, type Agent, type AgentOptions, type AgentStore } from 'palimpsest'
import type { LoopEvent } from 'palimpsest/loop'
import { fileStore } from 'palimpsest/node'
import { createSimulator, type ScriptStep, type Simulator } from 'palimpsest/simulator'

// The front door of the library as its users have it: the real SDK, the public paths, and the simulator behind the client's `fetch`.

const MODEL = 'claude-sonnet-5-5'
const LONG = 'The harbour opens at six and closes at nine. '.repeat(400)

const say = (text: string): ScriptStep => ({ content: [{ type: 'text', text }] })
const callStock: ScriptStep = {
  content: [{ type: 'tool_use', name: 'stock', input: { item: 'bolts' } }],
  stop_reason: 'tool_use',
}
const stock = {
  name: 'stock',
  description: 'How many of an item are left.',
  inputSchema: { type: 'object', properties: { item: { type: 'string' } } },
  run: (input: { readonly item?: unknown }) => `42 ${String(input.item)}`,
  isReadOnly: true,
}

interface Made {
  readonly agent: Agent
  readonly simulator: Simulator
  readonly options: AgentOptions
}

function make(script: readonly ScriptStep[], more: Partial<AgentOptions> = {}): Made {
  const simulator = createSimulator({ script })
  const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
  const client = new Anthropic({ apiKey: 'test', fetch })
  const options = { client, model: MODEL, system: 'You keep a shop. '.repeat(300), tools: [stock], ...more }
  return { agent: createAgent(options), simulator, options }
}

async function heard(agent: Agent, text: string): Promise<readonly LoopEvent[]> {
  const events: LoopEvent[] = []
  for await (const event of agent.send(text)) events.push(event)
  return events
}

const told = (events: readonly LoopEvent[]): string =>
  events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')

test.each([
  ['1.8.0', Anthropic],
  ['0.137.0', OlderAnthropic as unknown as typeof Anthropic],
])(
  'a client without a key (SDK %s) ends the turn at once with the fix, and sends nothing',
  async (_version, Client) => {
    let sent = 0
    const fetch: typeof globalThis.fetch = () => {
      sent++
      return Promise.reject(new Error('sent'))
    }
    const agent = createAgent({ client: new Client({ apiKey: null, authToken: null, fetch }), model: MODEL })
    const events = await heard(agent, 'Hello')
    expect(events.at(-1)).toMatchObject({
      type: 'turn-end',
      end: { reason: 'failed', failure: { kind: 'unauthorized' } },
    })
    expect(JSON.stringify(events.at(-1))).toContain('Set ANTHROPIC_API_KEY')
    expect(events.filter(({ type }) => type === 'retry-wait')).toEqual([])
    expect(sent).toBe(0)
  },
)

test("an error about the address names the client's address", async () => {
  const client = new Anthropic({ apiKey: 'test', baseURL: 'http://127.0.0.1:1' })
  const events = await heard(createAgent({ client, model: MODEL }), 'Hello')
  expect(JSON.stringify(events.at(-1))).toContain('127.0.0.1:1')
})

const STORES: readonly (readonly [string, () => Promise<AgentStore>])[] = [
  ['in memory', async () => memoryStore()],
  [
    'in files',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'palimpsest-store-'))
      onTestFinished(async () => await rm(folder, { recursive: true, force: true }))
      return fileStore(folder)
    },
  ],
]

describe.each(STORES)('an agent whose conversations are stored %s', (_name, open) => {
  test('calls tools, answers, and reads from the cache what the previous request sent', async () => {
    const script = [callStock, say('There are 42 bolts.'), say('You are welcome.')]
    const { agent, simulator } = make(script, { store: await open() })
    const events = await heard(agent, 'How many bolts?')
    expect(told(events)).toBe('There are 42 bolts.')
    expect(events.flatMap((event) => (event.type === 'tool-end' ? [event.name] : []))).toEqual(['stock'])
    expect(events.at(-1)).toEqual({ type: 'turn-end', end: { reason: 'answered' } })
    await heard(agent, 'Thanks')
    const usages = simulator.requests().map(({ usage }) => usage)
    for (const [i, usage] of usages.entries()) {
      const before = usages[i - 1]
      if (before)
        expect(usage?.cache_read_input_tokens).toBe(
          before.input_tokens +
            (before.cache_read_input_tokens ?? 0) +
            (before.cache_creation_input_tokens ?? 0),
        )
    }
    await agent.close()
  })

  test('compacts, reports what left, and restores it word for word', async () => {
    const script = [say(LONG), say('Yes.'), say('A summary: the harbour has hours.'), say('Nine.')]
    const { agent, simulator } = make(script, { store: await open() })
    await heard(agent, 'When does the harbour open?')
    await heard(agent, 'Every day?')
    expect(await agent.compact('keep the hours')).toMatchObject({ kind: 'compacted' })
    const { removals } = await agent.context()
    const id = removals.at(-1)?.id ?? ''
    expect(await agent.undo(id)).toMatchObject({ kind: 'undone', id })
    expect(await agent.undo(id)).toEqual({ kind: 'undone-already', id })
    expect(await agent.undo('no-such-id')).toEqual({ kind: 'no-removal', what: 'other' })
    await heard(agent, 'And closes?')
    expect(JSON.stringify(simulator.requests().at(-1)?.body)).toContain(LONG)
    await agent.close()
  })

  test('is resumed by its id, with its whole prefix read from the cache', async () => {
    const store = await open()
    const { agent, simulator, options } = make([say('Good morning.'), say('Still here.')], { store })
    await heard(agent, 'Good morning')
    const id = await agent.id()
    await agent.close()
    const again = createAgent({ ...options, id })
    expect(told(await heard(again, 'Still there?'))).toBe('Still here.')
    const [first, second] = simulator.requests()
    expect(second?.usage?.cache_read_input_tokens).toBe(
      (first?.usage?.input_tokens ?? 0) +
        (first?.usage?.cache_read_input_tokens ?? 0) +
        (first?.usage?.cache_creation_input_tokens ?? 0),
    )
    await again.close()
  })

  test('forks: the copy knows what was said, and the two then diverge', async () => {
    const script = [say('Noted.'), say('In the copy.'), say('In the first.')]
    const { agent, simulator } = make(script, { store: await open() })
    await heard(agent, 'Remember the harbour')
    const copy = await agent.fork()
    await heard(copy, 'Only here')
    await heard(agent, 'Only there')
    const [, inCopy, inFirst] = simulator.requests().map(({ body }) => JSON.stringify(body))
    expect(inCopy).toContain('Remember the harbour')
    expect(inFirst).toContain('Remember the harbour')
    expect(inFirst).not.toContain('Only here')
    expect(await copy.id()).not.toBe(await agent.id())
    await copy.close()
    await agent.close()
  })

  test('can be open only once at a time', async () => {
    const store = await open()
    const { agent, options } = make([say('One.')], { store })
    await heard(agent, 'One')
    const second = createAgent({ ...options, id: await agent.id() })
    await expect(heard(second, 'Two')).rejects.toMatchObject({ failure: 'locked' })
    await agent.close()
  })
})

test('leaving the loop ends the turn, and the conversation is valid for the next one', async () => {
  const { agent, simulator } = make([callStock, say('Never asked for.'), say('Here again.')])
  for await (const event of agent.send('How many bolts?')) if (event.type === 'tool-start') break
  expect(simulator.requests()).toHaveLength(1)
  expect(told(await heard(agent, 'Go on'))).toBe('Never asked for.')
  expect(simulator.requests().map(({ status }) => status)).toEqual([200, 200])
  await agent.close()
})

test('turns requested at the same time run one after the other', async () => {
  const { agent, simulator } = make([callStock, say('First.'), say('Second.')])
  const [first, second] = await Promise.all([heard(agent, 'One'), heard(agent, 'Two')])
  expect([told(first), told(second)]).toEqual(['First.', 'Second.'])
  expect(simulator.requests().map(({ status }) => status)).toEqual([200, 200, 200])
  await agent.close()
})

test('a limit in dollars is enforced', async () => {
  const { agent, simulator } = make([say('Dear.')], { maxCostUsd: 0.000_001 })
  const events = await heard(agent, 'Say something')
  expect(events.at(-1)).toMatchObject({ type: 'turn-end', end: { reason: 'max-cost' } })
  expect(simulator.requests()).toEqual([])
  await agent.close()
})

test('a client of the older major works too, and a refusal is reported as a refusal', async () => {
  const simulator = createSimulator({ script: [say('Hello.')] })
  const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
  const agent = createAgent({ client: new OlderAnthropic({ apiKey: 'test', fetch }), model: MODEL })
  expect(told(await heard(agent, 'Hello'))).toBe('Hello.')
  await agent.close()
  const refusing = createAgent({
    client: new Anthropic({
      apiKey: 'wrong',
      fetch: async () =>
        Response.json(
          { type: 'error', error: { type: 'authentication_error', message: 'no' } },
          { status: 401 },
        ),
    }),
    model: MODEL,
  })
  const events = await heard(refusing, 'Hello')
  expect(events.at(-1)).toMatchObject({ end: { reason: 'failed', failure: { kind: 'unauthorized' } } })
  await refusing.close()
})

test('a tool may return a text, blocks or an output; if it returns anything else, the model is told', async () => {
  const results = ['plain', [{ type: 'text', text: 'blocks' }], { content: 'output' }, undefined, 5]
  // Programs without types return what they like.
  const run = (): string => results.shift() as string
  const { agent, simulator } = make([...results.map(() => callStock), say('Done.')], {
    tools: [{ ...stock, run }],
  })
  const events = await heard(agent, 'How many bolts?')
  expect(events.at(-1)).toEqual({ type: 'turn-end', end: { reason: 'answered' } })
  const sent = JSON.stringify(simulator.requests().at(-1)?.body)
  for (const text of ['plain', 'blocks', 'output']) expect(sent).toContain(text)
  expect(sent.split('The tool ran and returned no text.')).toHaveLength(3)
  await agent.close()
})
