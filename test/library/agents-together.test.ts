import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Anthropic from '@anthropic-ai/sdk'
import { expect, onTestFinished, test } from 'vitest'

import { createAgent, createFlags, type Agent, type SpawnResult } from 'palimpsest'
import { fileStore } from 'palimpsest/node'
import { createSimulator, STRICT_SWITCHES, type ScriptStep, type Simulator } from 'palimpsest/simulator'

// A conversation and its agents at the same time: whatever one of them does to its own window, the other sends the same bytes.

const MODEL = 'claude-sonnet-5-5'
const WINDOW = 24_000
/** In all that the agent says and hears, and in nothing else. */
const OF_CLERK = 'clerk-of-the-shop'
const ROUNDS = 9

const long = (name: string): string => `${name}: the tide is high and the boats are out. `.repeat(200)
const textStep = (text: string): ScriptStep => ({ content: [{ type: 'text', text }] })
/** Summaries are asked for with words of their own; the rest of the script goes on. */
const summary = (name: string): ScriptStep => ({
  ...textStep(`<summary>\n${name}: the tide, the boats, and what is to be done.\n</summary>`),
  when: { source: 'compact' },
  times: 20,
})

interface Shop {
  readonly agent: Agent
  /** One for each of the two: what one is asked does not count for the other. */
  readonly main: Simulator
  readonly clerk: Simulator
}

/** `hold`: called with each request for a summary. */
function openShop(hold: (of: 'main' | 'clerk') => Promise<void>): Shop {
  const switches = { ...STRICT_SWITCHES, pastScript: 'refuse' as const }
  const main = createSimulator({
    seed: 1,
    switches,
    script: [summary('main'), ...Array.from({ length: ROUNDS }, (_, i) => textStep(long(`main ${i}`)))],
  })
  const clerk = createSimulator({
    seed: 1,
    switches,
    script: [
      summary(OF_CLERK),
      ...Array.from({ length: ROUNDS }, (_, i): ScriptStep => ({
        content: [
          { type: 'text', text: long(`${OF_CLERK} ${i}`) },
          { type: 'tool_use', name: 'stock', input: { round: i } },
        ],
        stop_reason: 'tool_use',
      })),
      textStep('Counted.'),
    ],
  })
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    const of = (await request.clone().text()).includes(OF_CLERK) ? 'clerk' : 'main'
    if (request.headers.get('x-palimpsest-source') === 'compact') await hold(of)
    return await (of === 'clerk' ? clerk : main).fetch(request)
  }
  const agent = createAgent({
    client: new Anthropic({ apiKey: 'test', fetch, maxRetries: 0 }),
    model: MODEL,
    window: WINDOW,
    system: 'You keep a shop.',
    // A summary that is made in time is there or not there, as time has it: here both are made when they are needed.
    flags: createFlags([
      { name: 'test', find: (name) => (name === 'prepared-compaction' ? false : undefined) },
    ]),
    tools: [
      {
        name: 'stock',
        description: 'What is left.',
        inputSchema: { type: 'object' },
        isReadOnly: true,
        run: () => '42',
      },
    ],
    agents: { types: { clerk: { prompt: `You are the ${OF_CLERK}.` } } },
  })
  onTestFinished(async () => await agent.close())
  return { agent, main, clerk }
}

async function talk(agent: Agent): Promise<void> {
  for (let i = 0; i < ROUNDS; i++) for await (const event of agent.send(`Question ${i}`)) void event
}

async function count(agent: Agent): Promise<void> {
  const result = await agent.spawn('clerk', `Count, ${OF_CLERK}.`)
  expect(result).toMatchObject({ state: 'completed', text: 'Counted.' })
}

/** Long texts are compared by what they come to: a difference would be pages of output. */
const bodies = (simulator: Simulator): readonly string[] =>
  simulator.requests().map(({ body }) =>
    createHash('sha256')
      .update(typeof body === 'string' ? body : JSON.stringify(body))
      .digest('hex'),
  )
const summaries = (simulator: Simulator): number =>
  simulator.requests().filter(({ headers }) => headers['x-palimpsest-source'] === 'compact').length

test('a conversation and its agent that are compacted at the same moment send the same bytes as each would alone', async () => {
  const none = async (): Promise<void> => undefined
  const alone = { main: openShop(none), clerk: openShop(none) }
  await talk(alone.main.agent)
  await count(alone.clerk.agent)
  const both = new Map<'main' | 'clerk', () => void>()
  const first = (of: 'main' | 'clerk'): Promise<void> => new Promise((resolve) => both.set(of, resolve))
  const arrived = Promise.all([first('main'), first('clerk')])
  // Each waits with its first summary until the other asks for its own.
  const together = openShop(async (of) => {
    both.get(of)?.()
    await arrived
  })
  await Promise.all([talk(together.agent), count(together.agent)])
  expect([summaries(together.main), summaries(together.clerk)].map((n) => n > 0)).toEqual([true, true])
  expect(bodies(together.main)).toEqual(bodies(alone.main.main))
  expect(bodies(together.clerk)).toEqual(bodies(alone.clerk.clerk))
})

const AGENTS = 8

test('closing an agent stops everything that works for it, and each of their conversations can be resumed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'palimpsest-together-'))
  onTestFinished(async () => await rm(folder, { recursive: true, force: true }))
  const source = { source: 'subagent' }
  const simulator = createSimulator({
    switches: { ...STRICT_SWITCHES, pastScript: 'refuse' },
    script: [
      textStep('Hello.'),
      {
        ...textStep('Too late.'),
        when: { ...source, bodyContains: '42 bolts' },
        times: AGENTS,
        delay_ms: 600_000,
      },
      {
        content: [
          { type: 'text', text: 'I begin.' },
          { type: 'tool_use', name: 'stock', input: {} },
        ],
        stop_reason: 'tool_use',
        when: source,
        times: AGENTS,
      },
      { ...textStep('Here again.'), times: AGENTS },
    ],
  })
  const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
  const options = {
    client: new Anthropic({ apiKey: 'test', fetch, maxRetries: 0 }),
    model: MODEL,
    store: fileStore(folder),
    agents: { types: { clerk: { prompt: 'You are a clerk.' } } },
    tools: [
      { name: 'stock', description: 'What is left.', inputSchema: { type: 'object' }, run: () => '42 bolts' },
    ],
  }
  const agent = createAgent(options)
  for await (const event of agent.send('Hello')) void event
  let under = 0
  let reached: () => void = () => undefined
  const allUnderWay = new Promise<void>((resolve) => (reached = resolve))
  const onEvent = ({ type }: { readonly type: string }): void => {
    if (type === 'tool-end' && ++under === AGENTS) reached()
  }
  const work = Array.from({ length: AGENTS }, (_, i): Promise<SpawnResult> =>
    agent.spawn(i % 2 === 0 ? 'fork' : 'clerk', `Part ${i}`, { onEvent }),
  )
  await allUnderWay
  await agent.close()
  const results = await Promise.all(work)
  expect(results.map(({ state, text }) => `${state} ${text}`)).toEqual(
    Array.from({ length: AGENTS }, () => 'stopped I begin.'),
  )
  for (const { id } of results) {
    const again = createAgent({ ...options, id })
    let said = ''
    for await (const event of again.send('Go on')) if (event.type === 'text-delta') said += event.text
    expect(said).toBe('Here again.')
    await again.close()
  }
})
