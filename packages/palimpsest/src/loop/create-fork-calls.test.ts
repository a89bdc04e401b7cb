import { expect, test } from 'vitest'

import {
  createTestAgent,
  echoTool,
  type TestAgent,
  type TestAgentOptions,
} from '../../../../test/kit/agent.ts'
import { runToolFork, spentOnFork, type ToolFork, type ToolForkPorts } from '../background/run-tool-fork.ts'
import { copyView } from '../transcript/view.ts'
import { isJsonObject } from '../wire/json.ts'
import { ownIds } from './answers/own-ids.ts'
import { createForkCalls, type ForkCallSetup } from './create-fork-calls.ts'
import type { LoopTool } from './tool.ts'

type LoggedRequest = ReturnType<TestAgent['simulator']['requests']>[number]
type ScriptStep = Parameters<TestAgent['simulator']['addSteps']>[0][number]

const LONG = 'The ledger says what the cache will make of it. '.repeat(1_200)
const READ_SHARE_MIN = 0.99
const SOURCE = 'extract-memories'

const never = (): AbortSignal => new AbortController().signal
const echo = (text: string) => ({ type: 'tool_use', name: 'Echo', input: { text } }) as const
const answer = (...content: ScriptStep['content']): ScriptStep => ({ content, when: { source: SOURCE } })
const said = (text: string): ScriptStep => answer({ type: 'text', text })

test.each([1, 3])(
  'each response of a fork reads everything the previous request carried, after %i turns, however many calls came between',
  async (turns) => {
    const calls = Array.from({ length: 14 }, (_, i) => echo(`call ${i}`))
    const agent = await talked([answer(...calls), answer(echo('one more'), echo('and more')), said('done')])
    for (let turn = 1; turn < turns; turn++) await agent.say('Go on.')
    const outcome = await fork(agent)
    expect(outcome).toMatchObject({ end: 'answered', text: 'done', calls: 16 })
    const [main, ...forks] = requestsOf(agent).slice(turns - 1)
    expect(forks.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(readShare(forks[0])).toBeGreaterThanOrEqual(READ_SHARE_MIN)
    const read = forks.map(({ usage }) => usage?.cache_read_input_tokens ?? 0)
    const carried = [main, ...forks].map((request) => request?.input_tokens ?? 0)
    expect(read).toEqual(carried.slice(0, -1))
    expect(spentOnFork(outcome, SOURCE)).toHaveLength(3)
  },
)

test('a fork extends one parent byte for byte, even if the conversation continues meanwhile', async () => {
  const agent = await talked([answer(echo('first')), said('done')])
  const running = fork(agent, {
    runCalls: async (calls, signal) => {
      await agent.say('Go on.')
      return await createForkCalls(callSetup(agent))(calls, signal)
    },
  })
  expect((await running).end).toBe('answered')
  const [parent, first, main, second] = requestsOf(agent).map(messagesOf)
  expect(first?.slice(0, parent?.length)).toEqual(parent)
  expect(second?.slice(0, first?.length)).toEqual(first)
  expect(JSON.stringify(main)).not.toContain('Extract.')
})

test("the transcript of the parent does not change; the fork's conversation is stored in a separate record", async () => {
  const agent = await talked([answer(echo('first')), said('done')])
  const before = [...agent.entries]
  const record: unknown[] = []
  await fork(agent, { record: async (message) => void record.push(JSON.parse(message)) })
  expect(agent.entries).toEqual(before)
  expect(record).toMatchObject([
    { role: 'user', content: 'Extract.' },
    { role: 'assistant', content: [{ type: 'tool_use', name: 'Echo' }] },
    { role: 'user', content: [{ type: 'tool_result', content: 'first' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
  ])
})

test('a call that may not run gets the reason as its result, and so does one of a missing tool', async () => {
  const agent = await talked([
    answer(echo('yes'), echo('no'), { type: 'tool_use', name: 'Nothing', input: {} }),
    said('done'),
  ])
  const results: unknown[] = []
  await fork(
    agent,
    { record: async (message) => void results.push(JSON.parse(message).content) },
    {
      permit: async (_tool, input) =>
        input['text'] === 'no' ? { allow: false, reason: 'Only yes.' } : { allow: true },
    },
  )
  expect(results[2]).toMatchObject([
    { content: 'yes' },
    { content: 'Only yes.', is_error: true },
    { content: 'There is no tool named Nothing. The tools are: Echo.', is_error: true },
  ])
})

test('the calls of its last response are run, and no further response is requested', async () => {
  const ran: unknown[] = []
  const tool: LoopTool = { ...echoTool, run: async (input) => ({ content: String(ran.push(input['text'])) }) }
  const agent = await talked([answer(echo('a')), answer(echo('b')), said('never asked for')], {
    tools: [tool],
  })
  expect(await fork(agent, {}, {}, { responsesMax: 2 })).toMatchObject({ end: 'out-of-responses', calls: 2 })
  expect(ran).toEqual(['a', 'b'])
  expect(requestsOf(agent)).toHaveLength(3)
  const last = requestsOf(agent).at(-1)
  expect(last?.usage?.cache_creation_input_tokens).toBe(0)
})

test('it ends when the caller says that everything is done, when the money is spent, and when it is aborted', async () => {
  const agent = await talked([answer(echo('a')), answer(echo('b')), answer(echo('c')), said('never')])
  expect(await fork(agent, { isDone: () => true })).toMatchObject({ end: 'answered', calls: 1 })
  expect(await fork(agent, { maySpend: () => false })).toMatchObject({ end: 'over-budget', calls: 1 })
  const stop = new AbortController()
  const aborted = fork(agent, { isDone: () => stop.abort() === undefined && false }, {}, {}, stop.signal)
  const outcome = await aborted
  expect(outcome).toMatchObject({ end: 'aborted', calls: 1 })
  expect(outcome.responses).toHaveLength(1)
})

test('a truncated answer runs nothing; a failure has a reason; before the first request there is nothing to fork', async () => {
  const fresh = createTestAgent()
  expect(await fork(fresh)).toMatchObject({ end: 'unfit', responses: [] })
  const agent = await talked([{ ...answer(echo('a')), stop_reason: 'max_tokens' }])
  expect(await fork(agent)).toMatchObject({ end: 'cut', reason: 'max_tokens', calls: 0 })
  agent.simulator.addFaults([{ match: {}, times: 1, fault: { type: 'status', status: 529 } }])
  expect(await fork(agent)).toMatchObject({ end: 'failed', responses: [] })
})

async function talked(steps: readonly ScriptStep[], options: TestAgentOptions = {}): Promise<TestAgent> {
  const agent = createTestAgent({
    ...options,
    simulator: { script: [...steps, { content: [{ type: 'text', text: 'yes' }], times: 9 }] },
  })
  await agent.say(LONG)
  return agent
}

async function fork(
  agent: TestAgent,
  ports: Partial<ToolForkPorts> = {},
  setup: Partial<ForkCallSetup> = {},
  more: Partial<ToolFork> = {},
  signal = never(),
) {
  const { view } = agent.session
  const hold = agent.setup.forkPoint?.hold
  if (!hold) throw new Error('the agent has no fork point')
  return await runToolFork(
    {
      source: SOURCE,
      messages: [JSON.stringify({ role: 'user', content: 'Extract.' })],
      responsesMax: 5,
      ...more,
    },
    {
      runFork: hold(ownIds(view, () => 'id')),
      runCalls: createForkCalls({ ...callSetup(agent), ...setup }),
      trace: agent.setup.ports.trace,
      ...ports,
    },
    signal,
  )
}

function callSetup(agent: TestAgent): ForkCallSetup {
  const { tools, permit, ports } = agent.setup
  return { tools, permit, ports, view: copyView(agent.session.view) }
}

function requestsOf(agent: TestAgent): readonly LoggedRequest[] {
  return agent.simulator.requests().filter(({ path }) => path === '/v1/messages')
}

/** Without breakpoints. */
function messagesOf({ body }: LoggedRequest): readonly unknown[] {
  const text = JSON.stringify(body).replaceAll(/,"cache_control":\{[^}]*\}/g, '')
  const parsed: unknown = JSON.parse(text)
  return isJsonObject(parsed) && Array.isArray(parsed['messages']) ? parsed['messages'] : []
}

function readShare(request: LoggedRequest | undefined): number {
  return (request?.usage?.cache_read_input_tokens ?? 0) / (request?.input_tokens ?? 1)
}
