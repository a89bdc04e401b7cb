import { describe, expect, test } from 'vitest'
import {
  createTestAgent,
  echoTool,
  MODEL,
  type TestAgent,
  type TestAgentOptions,
} from '../../../../test/kit/agent.ts'
import type { ForkOutcome } from '../ports.ts'
import { isBlock, toBlocks } from '../wire/message.ts'
import type { LoopTool } from './tool.ts'

type LoggedRequest = ReturnType<TestAgent['simulator']['requests']>[number]
type ScriptStep = Parameters<TestAgent['simulator']['addSteps']>[0][number]

const FORKS = 8
/** Share of its input that a fork which did not go first reads. */
const READ_SHARE_MIN = 0.98
const PAUSE_MS = 6 * 60_000
const LONG = 'The ledger says what the cache will make of it. '.repeat(600)
const AGENT = { type: 'tool_use', name: 'Agent', input: { text: 'look' } } as const

const never = (): AbortSignal => new AbortController().signal
const user = (text: string): string => JSON.stringify({ role: 'user', content: [{ type: 'text', text }] })
const directive = (i: number): string => user(`Look at part ${i}, and say what is wrong with it.`)

describe('forks of a conversation', () => {
  test('eight at the same time after an answer: the first writes what they share, the others read at least 98% of their input', async () => {
    const agent = agentThatForks()
    await agent.say(LONG)
    const forks = forksOf(agent)
    expect(forks).toHaveLength(FORKS)
    expect(forks.map(({ status }) => status)).toEqual(forks.map(() => 200))
    expect(forks.map(({ usage }) => (usage?.cache_creation_input_tokens ?? 0) > 0)).toEqual([
      true,
      ...Array.from({ length: FORKS - 1 }, () => false),
    ])
    const others = forks.slice(1)
    expect(others.map((request) => readShare(request) >= READ_SHARE_MIN)).toEqual(others.map(() => true))
  })

  test('eight at the same time after the cache expired: one pays for the prefix, the others read it', async () => {
    const agent = createTestAgent({ simulator: { script: says(FORKS + 1) } })
    await agent.say(LONG)
    agent.wait(PAUSE_MS)
    const outcomes = await eight(agent)
    expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map(() => 'answered'))
    const [first, ...others] = forksOf(agent)
    expect(first?.cache_explanation?.kind).toBe('expired')
    expect(others.map((request) => readShare(request) >= READ_SHARE_MIN)).toEqual(others.map(() => true))
  })

  test('the same eight sent in parallel would each pay, so the test above can fail', async () => {
    const bodies: string[] = []
    const agent = agentSeeing(bodies)
    await agent.say(LONG)
    agent.wait(PAUSE_MS)
    const ask = (i: number): Promise<Response> =>
      agent.simulator.fetch(
        new Request('http://simulator/v1/messages', {
          method: 'POST',
          headers: { 'x-api-key': 'test-key', 'anthropic-version': '2023-06-01' },
          body: `${bodies[0]?.slice(0, -2)},${directive(i)}]}`,
        }),
      )
    await Promise.all(Array.from({ length: FORKS }, (_, i) => ask(i)))
    const written = agent.simulator
      .requests()
      .filter(({ usage }) => (usage?.cache_creation_input_tokens ?? 0) > 0)
    expect(written).toHaveLength(1 + FORKS)
  })

  test('a fork extends its parent byte for byte, and its own messages carry no breakpoint', async () => {
    const bodies: string[] = []
    const agent = agentSeeing(bodies)
    await agent.say(LONG)
    await agent.runFork({ source: 'compact', messages: [user('Summarise.')] }, never())
    const [parent = '', fork = ''] = bodies
    expect(fork).toBe(`${parent.slice(0, -2)},${user('Summarise.')}]}`)
    const [main, forked] = agent.simulator.requests()
    expect(forked?.headers['anthropic-beta']).toBe(main?.headers['anthropic-beta'])
    expect(forked?.usage?.cache_creation_input_tokens).toBe(0)
    expect(forked?.usage?.cache_read_input_tokens).toBe(main?.input_tokens)
  })

  test.each(['5m', '1h'] as const)(
    'with all four breakpoints taken, the one for the shared part replaces the first in the messages (%s), and the prefix stays',
    async (anchor) => {
      const bodies: string[] = []
      const agent = agentSeeing(bodies, undefined, { lifetimes: { system: '1h', messages: '5m', anchor } })
      for (const text of [LONG, 'Go on.', 'And on.']) await agent.say(text)
      const parent = bodies.at(-1) ?? ''
      expect(parent.split('"cache_control"')).toHaveLength(5)
      const shared = [
        JSON.stringify({ role: 'assistant', content: [{ type: 'text', text: 'said' }] }),
        user('Fork.'),
      ]
      await agent.runFork({ source: 'subagent:part', shared, messages: [user('Part 1.')] }, never())
      const fork = bodies.at(-1) ?? ''
      expect(fork.split('"cache_control"')).toHaveLength(5)
      expect(withoutMarks(fork)).toBe(
        `${withoutMarks(parent).slice(0, -2)},${[...shared, user('Part 1.')].join(',')}]}`,
      )
      expect(agent.simulator.requests().at(-1)?.cache_explanation?.kind).toBe('hit')
    },
  )

  test.each([
    ['the model', (sent) => ({ ...sent, body: sent.body.replace(MODEL, 'claude-fable-5-1') }), 'first'],
    ['the betas', (sent) => ({ ...sent, betas: `${sent.betas},interleaved-thinking-2025-05-14` }), 'first'],
    ['a byte of a tool', (sent) => ({ ...sent, body: sent.body.replace('Says', 'says') }), 'first'],
    [
      'a byte of the system prompt',
      (sent) => ({ ...sent, body: sent.body.replace('You', 'you') }),
      { kind: 'changed', path: 'system.0' },
    ],
    [
      'the effort',
      (sent) => ({ ...sent, body: sent.body.replace('{', '{"output_config":{"effort":"low"},') }),
      { kind: 'changed', path: 'effort' },
    ],
    [
      'a byte of a message',
      (sent) => ({ ...sent, body: sent.body.replace('The', 'the') }),
      { kind: 'changed', path: 'messages.0.content.0' },
    ],
  ] satisfies readonly (readonly [string, (sent: Sent) => Sent, unknown])[])(
    'a difference in %s prevents reading from the cache',
    async (_what, change, why) => {
      const agent = agentSeeing([], change)
      await agent.say(LONG)
      await agent.runFork({ source: 'compact', messages: [user('Summarise.')] }, never())
      const fork = agent.simulator.requests().at(-1)
      expect(fork?.status).toBe(200)
      expect(fork?.cache_explanation).toMatchObject(typeof why === 'string' ? { kind: why } : why)
      expect(readShare(fork)).toBeLessThan(0.5)
    },
  )

  test('a fork that calls a tool runs none, one that fails says why, and there is none before the first request', async () => {
    const agent = createTestAgent({
      simulator: {
        script: [{ content: [{ type: 'text', text: 'yes' }] }, { content: [{ ...AGENT, name: 'Echo' }] }],
      },
    })
    const messages = [user('Summarise.')]
    expect(await agent.runFork({ source: 'compact', messages }, never())).toEqual({ kind: 'unfit' })
    await agent.say('hello')
    const called = await agent.runFork({ source: 'compact', messages }, never())
    expect(called).toMatchObject({ kind: 'called-tools', calls: [{ name: 'Echo' }] })
    agent.simulator.addFaults([{ match: {}, times: 1, fault: { type: 'status', status: 529 } }])
    const failed = await agent.runFork({ source: 'compact', messages }, never())
    expect(failed).toMatchObject({ kind: 'failed', failure: { kind: 'overloaded' } })
    expect(agent.traces.filter(({ name }) => name === 'fork').map(({ reason }) => reason)).toEqual([
      'called-tools',
      'failed',
    ])
  })

  test('if the first fails before its answer begins, the next one starts; an abort ends the wait', async () => {
    const agent = createTestAgent({ simulator: { script: says(FORKS + 1) } })
    await agent.say(LONG)
    agent.wait(PAUSE_MS)
    agent.simulator.addFaults([{ match: {}, times: 1, fault: { type: 'status', status: 529 } }])
    const outcomes = await eight(agent)
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      'failed',
      ...Array.from({ length: FORKS - 1 }, () => 'answered'),
    ])
    const written = forksOf(agent).filter(({ usage }) => (usage?.cache_creation_input_tokens ?? 0) > 0)
    expect(written).toHaveLength(1)
    agent.wait(PAUSE_MS)
    const stop = new AbortController()
    const waiting = [0, 1].map((i) =>
      agent.runFork({ source: 'compact', messages: [directive(i)] }, stop.signal),
    )
    stop.abort(new Error('enough'))
    const settled = await Promise.allSettled(waiting)
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })
})

interface Sent {
  readonly body: string
  readonly betas: string
}

/** Shows every body as it is sent. `change` spoils those of forks. */
function agentSeeing(
  bodies: string[],
  change: (sent: Sent) => Sent = (sent) => sent,
  setup: TestAgentOptions['setup'] = {},
): TestAgent {
  const agent: TestAgent = createTestAgent({
    simulator: { script: says(FORKS) },
    setup,
    fetch: async (input, init) => {
      const request = new Request(input, init)
      const sent = { body: await request.text(), betas: request.headers.get('anthropic-beta') ?? '' }
      const { body, betas } = request.headers.has('x-palimpsest-source') ? change(sent) : sent
      bodies.push(body)
      const headers = new Headers(request.headers)
      headers.set('anthropic-beta', betas)
      return await agent.simulator.fetch(new Request(request.url, { method: 'POST', headers, body }))
    },
  })
  return agent
}

/** Its one tool forks the conversation eight times, behind the answer that called it. */
function agentThatForks(): TestAgent {
  const forks: LoopTool = {
    ...echoTool,
    name: 'Agent',
    run: async () => {
      const answer = agent.entries.findLast((entry) => entry.kind === 'message' && entry.origin === 'model')
      const content = answer?.kind === 'message' ? toBlocks(answer.message.content) : []
      const results = content.flatMap((block) =>
        isBlock(block, 'tool_use')
          ? [{ type: 'tool_result', tool_use_id: block.id, content: 'Fork started.' }]
          : [],
      )
      const shared = [
        JSON.stringify({ role: 'assistant', content }),
        JSON.stringify({ role: 'user', content: results }),
      ]
      await eight(agent, shared)
      return { content: 'done' }
    },
  }
  const agent: TestAgent = createTestAgent({
    tools: [forks],
    simulator: {
      script: [
        {
          content: [
            { type: 'thinking', thinking: LONG.slice(0, 4000) },
            { type: 'text', text: LONG.slice(0, 4000) },
            AGENT,
          ],
        },
        ...says(FORKS + 1),
      ],
    },
  })
  return agent
}

async function eight(agent: TestAgent, shared?: readonly string[]): Promise<ForkOutcome[]> {
  const forks = Array.from({ length: FORKS }, (_, i) => ({
    source: 'subagent:part' as const,
    messages: [directive(i)],
    ...(shared ? { shared } : {}),
  }))
  return await Promise.all(forks.map((fork) => agent.runFork(fork, never())))
}

/** The same short answer. */
function says(times: number): ScriptStep[] {
  return [{ content: [{ type: 'text', text: 'yes' }], times }]
}

function forksOf(agent: TestAgent): readonly LoggedRequest[] {
  return agent.simulator.requests().filter(({ headers }) => headers['x-palimpsest-source'] !== undefined)
}

function readShare(request: LoggedRequest | undefined): number {
  return (request?.usage?.cache_read_input_tokens ?? 0) / (request?.input_tokens ?? 1)
}

function withoutMarks(body: string): string {
  return body.replaceAll(/,"cache_control":\{[^}]*\}/g, '')
}
