import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, onTestFinished, test } from 'vitest'

import {
  createAgent,
  memoryStore,
  type Agent,
  type AgentOptions,
  type AgentStore,
  type AgentTool,
  type SpawnResult,
} from 'palimpsest'
import { createCostOf } from 'palimpsest/ledger'
import { fileStore } from 'palimpsest/node'
import { createSimulator, STRICT_SWITCHES, type ScriptStep, type Simulator } from 'palimpsest/simulator'

// Agents of a program, as it has them: the real SDK, the public paths, and the simulator behind the client's `fetch`.

const MODEL = 'claude-sonnet-5-5'
const PROMPT = 'You keep a shop. '.repeat(400)

const say = (text: string, more: Partial<ScriptStep> = {}): ScriptStep => ({
  content: [{ type: 'text', text }],
  ...more,
})
const calls = (names: readonly string[], more: Partial<ScriptStep> = {}): ScriptStep => ({
  content: names.map((name) => ({ type: 'tool_use', name, input: {} })),
  stop_reason: 'tool_use',
  ...more,
})
const forked = { when: { source: 'subagent:fork' } }
const clerk = { when: { source: 'subagent:clerk' } }

const stock: AgentTool = {
  name: 'stock',
  description: 'What is left.',
  inputSchema: { type: 'object', properties: {} },
  isReadOnly: true,
  run: () => '42 bolts',
}
const order: AgentTool = { ...stock, name: 'order', description: 'Orders more.', run: () => 'ordered' }

interface Made {
  readonly agent: Agent
  readonly simulator: Simulator
  readonly options: AgentOptions
}

function make(script: readonly ScriptStep[], more: Partial<AgentOptions> = {}): Made {
  const simulator = createSimulator({ script, switches: { ...STRICT_SWITCHES, pastScript: 'refuse' } })
  const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
  const client = new Anthropic({ apiKey: 'test', fetch, maxRetries: 0 })
  const options = { client, model: MODEL, system: PROMPT, tools: [stock, order], ...more }
  const agent = createAgent(options)
  onTestFinished(async () => await agent.close())
  return { agent, simulator, options }
}

async function turn(agent: Agent, words: string, signal?: AbortSignal): Promise<string> {
  let text = ''
  for await (const event of agent.send(words, { signal })) if (event.type === 'text-delta') text += event.text
  return text
}

type Logged = ReturnType<Simulator['requests']>[number]
const bytesOf = ({ body }: Logged): string => (typeof body === 'string' ? body : JSON.stringify(body))
const lastOf = (simulator: Simulator): string => simulator.requests().map(bytesOf).at(-1) ?? ''
const sources = (simulator: Simulator): readonly string[] =>
  simulator.requests().map(({ headers }) => headers['x-palimpsest-source'] ?? 'main')
const costOf = (requests: readonly Logged[]): number =>
  requests.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0)
const promptOf = ({ usage }: Logged): number =>
  (usage?.input_tokens ?? 0) +
  (usage?.cache_read_input_tokens ?? 0) +
  (usage?.cache_creation_input_tokens ?? 0)

const STORES: readonly (readonly [string, () => Promise<AgentStore>])[] = [
  ['in memory', async () => memoryStore()],
  [
    'in files',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'palimpsest-spawn-'))
      onTestFinished(async () => await rm(folder, { recursive: true, force: true }))
      return fileStore(folder)
    },
  ],
]

describe.each(STORES)('forks of an agent whose conversations are stored %s', (_name, open) => {
  test('send exactly the bytes that the agent would send, and read all of them from the cache', async () => {
    const script = [calls(['stock']), say('42 bolts.'), say('In the fork.', forked), say('In the first.')]
    const { agent, simulator } = make(script, { store: await open() })
    await turn(agent, 'How many bolts?')
    const fork = await agent.fork()
    await turn(fork, 'And nuts?')
    await turn(agent, 'And nuts?')
    const [, second, inFork, inFirst] = simulator.requests()
    if (!second || !inFork || !inFirst) throw new Error('requests are missing')
    expect(sources(simulator)).toEqual(['main', 'main', 'subagent:fork', 'main'])
    expect(bytesOf(inFork)).toBe(bytesOf(inFirst))
    expect(inFork.usage?.cache_read_input_tokens).toBe(promptOf(second))
  })

  test('requested by one answer share everything except their directive, whatever results came in between', async () => {
    let release: () => void = () => undefined
    const both = new Promise<void>((resolve) => (release = resolve))
    let started = 0
    const split: AgentTool = {
      ...stock,
      name: 'split',
      description: 'Splits the work.',
      run: async (_input, { spawn, toolUseId }) => {
        // The second begins when the first has ended: its result stands in the conversation by then.
        if (started++ > 0) await both
        const { text } = await spawn('fork', `Task ${toolUseId}`)
        release()
        return text
      },
    }
    const script = [
      say('Good morning. '.repeat(50)),
      calls(['stock', 'split', 'split']),
      calls(['stock'], forked),
      say('Done.', forked),
      calls(['stock'], forked),
      say('Done.', forked),
      say('All done.'),
    ]
    const { agent, simulator } = make(script, { store: await open(), tools: [stock, split] })
    await turn(agent, 'Good morning')
    expect(await turn(agent, 'Split it')).toBe('All done.')
    const all = simulator.requests()
    const first = all.filter(
      (request) => /fork-directive/.test(bytesOf(request)) && !/42 bolts/.test(bytesOf(request)),
    )
    expect(first).toHaveLength(2)
    const shared = first.map((request) => bytesOf(request).split('<fork-directive>')[0])
    expect(new Set(shared).size).toBe(1)
    expect(first[1]?.usage?.cache_read_input_tokens).toBeGreaterThan(0.95 * Math.max(...first.map(promptOf)))
  })

  test('can be requested while a turn runs: they know everything up to its newest answer', async () => {
    let inTool: Promise<Agent> | undefined
    const look: AgentTool = {
      ...stock,
      name: 'look',
      run: async () => {
        inTool = made.agent.fork()
        return await (await inTool).id()
      },
    }
    const script = [calls(['look']), say('Looked.'), say('In the fork.', forked)]
    const made = make(script, { store: await open(), tools: [look] })
    expect(await turn(made.agent, 'Look')).toBe('Looked.')
    const fork = await inTool
    if (!fork) throw new Error('no fork')
    expect(await turn(fork, 'And you?')).toBe('In the fork.')
    expect(made.simulator.requests().map(({ status }) => status)).toEqual([200, 200, 200])
  })

  test('report their cost to their parent, and end with it', async () => {
    const { agent, simulator, options } = make([say('One.'), say('Two.', forked), say('Three.')], {
      store: await open(),
    })
    await turn(agent, 'One')
    const fork = await agent.fork()
    const id = await fork.id()
    await turn(fork, 'Two')
    const parent = await agent.id()
    await agent.close()
    await expect(turn(fork, 'More')).rejects.toThrow('This agent is closed')
    const kept = await options.store?.open(parent, () => 0)
    const spent = kept?.entries.flatMap((entry) => (entry.kind === 'spent' ? [entry.source] : []))
    expect(spent).toEqual(['subagent:fork'])
    await kept?.close()
    // It is a conversation like any other.
    const again = createAgent({ ...options, id })
    expect(await turn(again, 'Three')).toBe('Three.')
    expect(simulator.requests().map(({ status }) => status)).toEqual([200, 200, 200])
    await again.close()
  })
})

const TYPES = { clerk: { prompt: 'You are a clerk.', tools: ['stock', 'safe'] } }

describe.each(STORES)('agents of a type, stored %s', (_name, open) => {
  test('do a task with fewer tools and report it, with the cost; the bill is in the total', async () => {
    const script = [say('Hello.'), calls(['stock'], clerk), say('There are 42.', clerk)]
    const store = await open()
    const { agent, simulator, options } = make(script, { store, agents: { types: TYPES } })
    await turn(agent, 'Hello')
    const events: string[] = []
    const result = await agent.spawn('clerk', 'Count the bolts.', {
      onEvent: ({ type }) => events.push(type),
    })
    const own = simulator.requests().slice(1)
    expect(result).toEqual({
      id: expect.any(String),
      type: 'clerk',
      description: 'Count the bolts.',
      state: 'completed',
      text: 'There are 42.',
      why: undefined,
      calls: 1,
      notes: ['Of the type clerk: it asks for safe, which its parent does not have'],
      usage: usageOf(own),
      costUsd: expect.closeTo(costOf(own), 10),
    })
    expect(events).toContain('tool-end')
    const [first] = own
    expect(first && JSON.parse(bytesOf(first))).toMatchObject({
      tools: [{ name: 'stock' }],
      messages: [{ role: 'user' }],
    })
    const id = await agent.id()
    await agent.close()
    const kept = await store.open(id, createCostOf())
    expect(kept.totals().costUsd).toBeCloseTo(costOf(simulator.requests()), 10)
    await kept.close()
    const again = createAgent({ ...options, id: result.id })
    expect(JSON.stringify((await again.context()).used)).not.toBe('0')
    await again.close()
  })

  test('are announced before the first turn, and are on the bill all the same', async () => {
    const store = await open()
    const { agent } = make([say('42.', clerk), say('Hello.')], { store, agents: { types: TYPES } })
    expect((await agent.spawn('clerk', 'Count.')).state).toBe('completed')
    expect(await turn(agent, 'Hello')).toBe('Hello.')
    const id = await agent.id()
    await agent.close()
    const kept = await store.open(id, () => 0)
    expect(kept.entries.filter(({ kind }) => kind === 'spent')).toHaveLength(1)
    await kept.close()
  })
})

function usageOf(requests: readonly Logged[]): SpawnResult['usage'] {
  const sum = (of: (one: NonNullable<Logged['usage']>) => number | null | undefined): number =>
    requests.reduce((all, { usage }) => all + ((usage && of(usage)) ?? 0), 0)
  return {
    uncached: sum((one) => one.input_tokens),
    written: sum((one) => one.cache_creation_input_tokens),
    read: sum((one) => one.cache_read_input_tokens),
    output: sum((one) => one.output_tokens),
  }
}

test('a report that reached the output limit is passed on in full', async () => {
  const types = { clerk: { prompt: 'You are a clerk.' } }
  const script = [
    calls(['stock'], clerk),
    say('There are 42 bo', { ...clerk, stop_reason: 'max_tokens' }),
    say('lts and no nu', { ...clerk, stop_reason: 'max_tokens' }),
    say('ts.', clerk),
  ]
  const { agent } = make(script, { agents: { types } })
  expect(await agent.spawn('clerk', 'Count.')).toMatchObject({
    text: 'There are 42 bolts and no nuts.',
    state: 'completed',
  })
})

describe('an agent never has more rights than its parent', () => {
  test('it must not do what its parent must not do; its own permissions only narrow', async () => {
    const types = {
      clerk: {
        prompt: 'You are a clerk.',
        permit: async ({ name }: { readonly name: string }) =>
          name === 'stock' ? ({ allow: false, reason: 'closed' } as const) : ({ allow: true } as const),
      },
    }
    const { agent, simulator } = make([calls(['stock', 'order'], clerk), say('Nothing.', clerk)], {
      agents: { types },
      permit: async ({ name }) =>
        name === 'order' ? { allow: false, reason: 'not today' } : { allow: true },
    })
    await agent.spawn('clerk', 'Order some.')
    const sent = lastOf(simulator)
    expect(sent).toContain('closed')
    expect(sent).toContain('not today')
  })
})

describe('limits', () => {
  const spawner = (type: string): AgentTool => ({
    ...stock,
    name: 'delegate',
    run: async (_input, { spawn }) => {
      const { text, why, state } = await spawn(type, 'Go on.')
      return why === undefined ? text : `${state}: ${why}`
    },
  })

  test('agents can be nested three deep; the fourth level is refused', async () => {
    const types = { clerk: { prompt: 'You are a clerk.' } }
    const script = [
      calls(['delegate']),
      ...Array.from({ length: 3 }, () => calls(['delegate'], clerk)),
      ...Array.from({ length: 3 }, () => say('Ended.', clerk)),
      say('Ended.'),
    ]
    const { agent, simulator } = make(script, { tools: [spawner('clerk')], agents: { types } })
    await turn(agent, 'Go')
    expect(simulator.requests().map(bytesOf).join('\n')).toContain(
      'refused: Agents are nested 3 deep at most (setting agents.maxDepth)',
    )
    expect(sources(simulator)).toEqual(['main', ...Array.from({ length: 6 }, () => 'subagent:clerk'), 'main'])
  })

  test('a fork cannot be forked again', async () => {
    const script = [calls(['delegate']), calls(['delegate'], forked), say('Ended.', forked), say('Ended.')]
    const { agent, simulator } = make(script, { tools: [spawner('fork')] })
    await turn(agent, 'Go')
    expect(simulator.requests().map(bytesOf).join('\n')).toContain('a fork is not forked again')
  })

  test('of a hundred at once sixteen work, and the others are told why they cannot', async () => {
    const script = [say('Hello.'), say('Done.', { ...forked, times: 16 })]
    const { agent } = make(script)
    await turn(agent, 'Hello')
    const results = await Promise.all(Array.from({ length: 100 }, (_, i) => agent.spawn('fork', `Part ${i}`)))
    const refused = results.filter(({ state }) => state === 'refused')
    expect([results.length - refused.length, refused.length]).toEqual([16, 84])
    expect(refused[0]?.why).toContain('16 agents work already, and no more may at once')
  })

  test('an agent that never ends is stopped: by requests, by tokens, by dollars', async () => {
    const types = { clerk: { prompt: 'You are a clerk.', maxTurns: 3 } }
    const forEver = { ...calls(['stock'], clerk), times: 1_000 }
    const why = async (agents: AgentOptions['agents']): Promise<unknown> => {
      const { agent } = make([forEver], { agents: { types, ...agents } })
      const { state, why: reason } = await agent.spawn('clerk', 'Count.')
      return `${state}: ${reason}`
    }
    expect(await why({})).toBe('failed: it made 3 requests (maxTurns of its type) and was not done')
    expect(await why({ maxTurns: 2 })).toBe(
      'failed: it made 2 requests (setting agents.maxTurns) and was not done',
    )
    expect(await why({ maxTokens: 100 })).toBe(
      'failed: it used more than 100 tokens (setting agents.maxTokens)',
    )
    expect(await why({ maxCostUsd: 0.000_001 })).toContain('failed: it would cost over $0.000001')
  })

  test("a conversation's cost limit includes all its agents", async () => {
    const long = say('Hello to you all. '.repeat(500))
    const free = make([long])
    await turn(free.agent, 'Hello')
    // Not even a short answer can be paid for after that.
    const maxCostUsd = costOf(free.simulator.requests()) + 0.001
    const { agent, simulator } = make([long], { maxCostUsd })
    await turn(agent, 'Hello')
    const { state, why } = await agent.spawn('fork', 'One more thing')
    expect([state, why]).toEqual(['failed', expect.stringContaining('or more than the session may')])
    expect(simulator.requests()).toHaveLength(1)
  })

  test('the error of an invalid call says what is wrong', async () => {
    const { agent } = make([], { agents: { types: TYPES } })
    await expect(agent.spawn('nobody', 'Go')).rejects.toThrow(
      'There is no type "nobody". The types are: clerk, fork.',
    )
    await expect(agent.spawn('clerk', ' ')).rejects.toThrow('The prompt is empty')
    await agent.close()
    await expect(agent.spawn('clerk', 'Go')).rejects.toThrow('This agent is closed')
  })
})

describe('an agent ends', () => {
  const never = say('Too late.', { ...clerk, delay_ms: 600_000 })

  test.each(['the signal', 'its parent', 'the turn that waits for it'])('with %s', async (what) => {
    const stop = new AbortController()
    let begin: () => void = () => undefined
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const ended: SpawnResult[] = []
    const options = { onEvent: () => begin() }
    const delegate: AgentTool = {
      ...stock,
      name: 'delegate',
      run: async (_input, { spawn }) => {
        ended.push(await spawn('clerk', 'Count.', options))
        return 'ended'
      },
    }
    const { agent } = make([calls(['delegate']), never], { tools: [delegate], agents: { types: TYPES } })
    if (what === 'the turn that waits for it') {
      const running = turn(agent, 'Go', stop.signal)
      await begun
      stop.abort()
      await running
    } else {
      const spawning = agent.spawn('clerk', 'Count.', { ...options, signal: stop.signal })
      await begun
      if (what === 'the signal') stop.abort()
      else await agent.close()
      ended.push(await spawning)
    }
    expect(ended.map(({ state, why }) => [state, why])).toEqual([['stopped', 'it was ended']])
  })
})
