import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, onTestFinished, test } from 'vitest'

import {
  createAgent,
  createPost,
  memoryStore,
  type Agent,
  type AgentMessage,
  type AgentOptions,
  type AgentTool,
} from 'palimpsest'
import { openFileMailbox } from 'palimpsest/node'
import { createSimulator, STRICT_SWITCHES, type ScriptStep, type Simulator } from 'palimpsest/simulator'

// Agents of a program that write to each other: the real SDK, the public paths, and the simulator behind the client's `fetch`.

type OpenMailbox = (name: string) => Promise<NonNullable<AgentOptions['mail']>>

const say = (text: string): ScriptStep => ({ content: [{ type: 'text', text }] })

interface Made {
  readonly agent: Agent
  readonly simulator: Simulator
  readonly options: AgentOptions
}

function make(script: readonly ScriptStep[], more: Partial<AgentOptions>): Made {
  const simulator = createSimulator({ script, switches: { ...STRICT_SWITCHES, pastScript: 'refuse' } })
  const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
  const client = new Anthropic({ apiKey: 'test', fetch, maxRetries: 0 })
  const system = 'You keep a shop. '.repeat(400)
  const options = { client, model: 'claude-sonnet-5-5', system, store: memoryStore(), ...more }
  const agent = createAgent(options)
  onTestFinished(async () => await agent.close())
  return { agent, simulator, options }
}

async function turn(agent: Agent, words?: string): Promise<string> {
  let text = ''
  for await (const event of agent.send(words)) if (event.type === 'text-delta') text += event.text
  return text
}

/** What the model was sent last. */
function lastSent(simulator: Simulator): string {
  const body = simulator.requests().at(-1)?.body
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** Each request is the one before and more. */
function expectGrowing(simulator: Simulator): void {
  const requests = simulator.requests()
  expect(requests.slice(1).map((request) => request.common_prefix_tokens)).toEqual(
    requests.slice(0, -1).map((request) => request.input_tokens),
  )
}

const POSTS: readonly (readonly [string, () => Promise<OpenMailbox>])[] = [
  [
    'in memory',
    async () => {
      const post = createPost()
      return async (name) => post(name)
    },
  ],
  [
    'in files',
    async () => {
      const home = await mkdtemp(join(tmpdir(), 'palimpsest-messages-'))
      onTestFinished(async () => await rm(home, { recursive: true, force: true }))
      return async (self) => await openFileMailbox({ home, team: 'red', self })
    },
  ],
]

describe.each(POSTS)('agents with mailboxes %s', (_name, open) => {
  test('write to each other: each message joins once, in order, at the end', async () => {
    const mailbox = await open()
    const ann = make([say('Good morning.'), say('Thank you, Ben.')], { mail: await mailbox('ann') })
    const ben = make([say('Good morning.'), say('I read both.'), say('Bye.')], { mail: await mailbox('ben') })
    const heard: AgentMessage[] = []
    ben.agent.onMessage((message) => heard.push(message))
    await turn(ann.agent, 'Good morning')
    await turn(ben.agent, 'Good morning')
    await Promise.all([
      ann.agent.message('ben', 'We have 42 bolts.\nAnd no nuts.'),
      ann.agent.message('ben', 'Order some nuts.'),
    ])
    expect(heard).toEqual([])
    expect(await turn(ben.agent)).toBe('I read both.')
    const both = [
      { from: 'ann', summary: 'We have 42 bolts.', message: 'We have 42 bolts.\nAnd no nuts.' },
      { from: 'ann', summary: 'Order some nuts.', message: 'Order some nuts.' },
    ]
    expect(heard).toEqual(both)
    const sent = lastSent(ben.simulator)
    expect(sent.split('<agent-message from=').length - 1).toBe(2)
    expect(sent.indexOf('42 bolts')).toBeLessThan(sent.indexOf('Order some nuts.'))
    expect(sent).toContain('The agent ann wrote this, not the user.')
    // Nothing waits any more: nobody is asked.
    expect(await turn(ben.agent)).toBe('')
    expect(ben.simulator.requests()).toHaveLength(2)
    await ben.agent.message('ann', 'Ordered.')
    expect(await turn(ann.agent, 'Anything new?')).toBe('Thank you, Ben.')
    expect(lastSent(ann.simulator)).toContain('<agent-message from=\\"ben\\">\\nOrdered.\\n</agent-message>')
    expect(await turn(ben.agent, 'Good night')).toBe('Bye.')
    expect(heard).toEqual(both)
    expectGrowing(ann.simulator)
    expectGrowing(ben.simulator)
  })

  test('get messages during a turn, with the next request; the transcript says who wrote them', async () => {
    const mailbox = await open()
    const ann = make([], { mail: await mailbox('ann') })
    const look: AgentTool = {
      name: 'look',
      description: 'Looks.',
      inputSchema: { type: 'object', properties: {} },
      run: async () => {
        await ann.agent.message('ben', 'The door is open.')
        return 'nothing'
      },
    }
    const call: ScriptStep = {
      content: [{ type: 'tool_use', name: 'look', input: {} }],
      stop_reason: 'tool_use',
    }
    const ben = make([call, say('I close it.')], { mail: await mailbox('ben'), tools: [look] })
    expect(await turn(ben.agent, 'Look')).toBe('I close it.')
    expectGrowing(ben.simulator)
    const id = await ben.agent.id()
    await ben.agent.close()
    const kept = await ben.options.store?.open(id, () => 0)
    const peers = kept?.entries.filter((entry) => entry.kind === 'message' && entry.origin === 'peer')
    expect(peers).toHaveLength(1)
    await kept?.close()
  })

  test('refuse invalid messages and unknown recipients, and say who is there', async () => {
    const mailbox = await open()
    const ann = make([], { mail: await mailbox('ann') })
    await expect(ann.agent.message('ben', 'Hello')).rejects.toThrow('nobody else has a mailbox yet')
    await mailbox('ben')
    await expect(ann.agent.message('carl', 'Hello')).rejects.toThrow('Write to one of these: ben')
    await expect(ann.agent.message('ben', ' ')).rejects.toThrow('needs a text')
    await expect(ann.agent.message('ben', 'x'.repeat(100_001))).rejects.toThrow('more than 100000 characters')
  })
})

test('messages for a closed agent join once, when its conversation is resumed', async () => {
  const post = createPost()
  const ann = make([], { mail: post('ann') })
  const ben = make([say('Good morning.'), say('Read.'), say('Bye.')], { mail: post('ben') })
  await turn(ben.agent, 'Good morning')
  const id = await ben.agent.id()
  await ben.agent.close()
  await expect(ben.agent.message('ann', 'Hello')).rejects.toThrow('This agent is closed')
  await ann.agent.message('ben', 'Are you there?')
  for (const [words, answer] of [
    [undefined, 'Read.'],
    ['Good night', 'Bye.'],
  ] as const) {
    const again = createAgent({ ...ben.options, id })
    expect(await turn(again, words)).toBe(answer)
    await again.close()
  }
  expect(lastSent(ben.simulator).split('Are you there?').length - 1).toBe(1)
  expectGrowing(ben.simulator)
})

test('a handler that fails breaks no turn, and one that is removed gets no more messages', async () => {
  const post = createPost()
  const traced: unknown[] = []
  const ann = make([], { mail: post('ann') })
  const ben = make([say('One.'), say('Two.')], {
    mail: post('ben'),
    onTrace: ({ name, reason }) => name === 'message-handler' && traced.push(reason),
  })
  const heard: string[] = []
  ben.agent.onMessage(() => {
    throw new Error('thrown')
  })
  ben.agent.onMessage(async () => await Promise.reject(new Error('rejected')))
  const remove = ben.agent.onMessage(({ summary }) => heard.push(summary))
  await ann.agent.message('ben', 'first')
  expect(await turn(ben.agent)).toBe('One.')
  remove()
  remove()
  await ann.agent.message('ben', 'second')
  expect(await turn(ben.agent)).toBe('Two.')
  expect(heard).toEqual(['first'])
  expect(traced).toEqual(['thrown', 'rejected', 'thrown', 'rejected'])
})

test('an agent without a mailbox and a fork both say what to do', async () => {
  const post = createPost()
  const { agent: alone } = make([], {})
  await expect(alone.message('ann', 'Hello')).rejects.toThrow('create it with `mail`')
  expect(() => alone.onMessage(() => undefined)).toThrow('create it with `mail`')
  await expect(alone.send().next()).rejects.toThrow('nothing to send')
  const ann = make([], { mail: post('ann') })
  const ben = make([say('Hello.'), say('In the fork.'), say('Read.')], { mail: post('ben') })
  await turn(ben.agent, 'Hello')
  const fork = await ben.agent.fork()
  await expect(fork.message('ann', 'Hello')).rejects.toThrow('A fork has no mailbox')
  await ann.agent.message('ben', 'For Ben alone.')
  expect(await turn(fork, 'And you?')).toBe('In the fork.')
  expect(lastSent(ben.simulator)).not.toContain('For Ben alone.')
  expect(await turn(ben.agent)).toBe('Read.')
  expect(lastSent(ben.simulator)).toContain('For Ben alone.')
  await expect(ben.agent.message('ben', 'Hello')).rejects.toThrow('that is the agent itself')
  expect(() => post('no name')).toThrow('nobody can be called "no name"')
})
