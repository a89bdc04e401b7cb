import { expect, test } from 'vitest'

import { createFlags, type Flags, type FlagSource } from '../../packages/palimpsest/src/flags/create-flags.ts'
import type { LoopTool } from '../../packages/palimpsest/src/loop/tool.ts'
import { createTestAgent, echoTool, textIn, type TestAgent, type TestAgentOptions } from '../kit/agent.ts'

// A flag stops new decisions. What was decided stands: no byte that was sent ever changes because of one.

const BIG = 60_000
const text = (said: string) => ({ type: 'text', text: said }) as const
/** A call whose result is so many characters long. */
const call = (name: string, chars = BIG) =>
  ({ type: 'tool_use', name: 'Echo', input: { text: `${name} ${chars}` } }) as const
const big = (name: string, chars = BIG): string => `${name}\n`.repeat(Math.ceil(chars / (name.length + 1)))
const repeatTool: LoopTool = {
  ...echoTool,
  run: async (input) => {
    const [name = '', chars] = textIn(input).split(' ')
    return { content: big(name, Number(chars)) }
  },
}

test('tool-result-storage off: results are sent in full, however large, and are not stored later', async () => {
  const { agent } = agentWith({ 'tool-result-storage': false }, [call('one'), call('two')])
  await agent.say('go')
  expect(agent.blobs.size).toBe(0)
  expect(resultsOf(agent)).toEqual([big('one'), big('two')])
})

test('tool-result-storage off: a tool with a limit of its own stores nothing either', async () => {
  const tools = [{ ...repeatTool, resultCharsMax: 10_000 }]
  const { agent } = agentWith({ 'tool-result-storage': false }, [call('one')], { tools })
  await agent.say('go')
  expect(agent.blobs.size).toBe(0)
})

test('tool-result-storage off: the results of one answer may exceed their share', async () => {
  const calls = Array.from({ length: 6 }, (_, i) => call(`part-${i}`, 45_000))
  const off = agentWith({ 'tool-result-storage': false }, calls).agent
  const on = agentWith({}, calls).agent
  await off.say('go')
  await on.say('go')
  expect([off.blobs.size, on.blobs.size]).toEqual([0, 2])
})

test('the switch takes effect at the next decision, and every request extends the previous one, byte for byte', async () => {
  const { agent, set } = agentWith({}, [])
  for (const [round, isOn] of [true, false, false, true, false].entries()) {
    set({ 'tool-result-storage': isOn })
    agent.simulator.addSteps([{ content: [call(`round-${round}`)] }, { content: [text('noted')] }])
    await agent.say(`round ${round}`)
  }
  expect(agent.blobs.size).toBe(2)
  const stored = resultsOf(agent).map((result) => result.startsWith('<persisted-output>'))
  expect(stored).toEqual([true, false, false, true, false])
  const requests = agent.simulator.requests()
  expect(requests.map(({ status }) => status)).toEqual(requests.map(() => 200))
  expect(requests.map(({ cache_explanation: why }) => why?.kind)).toEqual(
    requests.map((_, i) => (i === 0 ? 'first' : 'hit')),
  )
  expect(requests.slice(1).map(({ common_prefix_tokens: shared }) => shared)).toEqual(
    requests.slice(0, -1).map(({ input_tokens: whole }) => whole),
  )
})

test('if it is switched off while a tool runs, the result is still sent in full: the decision is made when the result arrives', async () => {
  let switchOff = (): void => undefined
  const slow: LoopTool = {
    ...repeatTool,
    run: async (input, context) => {
      switchOff()
      return await repeatTool.run(input, context)
    },
  }
  const { agent, set } = agentWith({}, [call('one')], { tools: [slow] })
  switchOff = () => set({ 'tool-result-storage': false })
  await agent.say('go')
  expect(agent.blobs.size).toBe(0)
})

test('tool-result-guard: if on, what does not fit goes to disk even with storage off; if off, the request is refused', async () => {
  const setup = { thresholds: { warning: 830_000, error: 840_000, auto: 850_000, blocking: 12_000 } }
  const on = agentWith({ 'tool-result-storage': false }, [call('one')], { setup }).agent
  const off = agentWith({ 'tool-result-storage': false, 'tool-result-guard': false }, [call('one')], {
    setup,
  }).agent
  expect((await on.say('go')).end).toEqual({ reason: 'answered' })
  expect((await off.say('go')).end).toMatchObject({ reason: 'window-full' })
  expect([on.blobs.size, off.blobs.size]).toEqual([1, 0])
})

test('result-chars-max limits all tools, or one tool by name', async () => {
  const said = [call('one', 20_000)]
  const stored = async (values: Values): Promise<number> => {
    const { agent } = agentWith(values, said)
    await agent.say('go')
    return agent.blobs.size
  }
  expect(await stored({})).toBe(0)
  expect(await stored({ 'result-chars-max': 10_000 })).toBe(1)
  expect(await stored({ 'result-chars-max:Echo': 10_000 })).toBe(1)
  expect(await stored({ 'result-chars-max:Other': 10_000 })).toBe(0)
  expect(await stored({ 'result-chars-max': 10_000, 'result-chars-max:Echo': 30_000 })).toBe(0)
})

test('answer-chars-max limits the total of the results of one answer', async () => {
  const { agent } = agentWith({ 'answer-chars-max': 50_000 }, [call('one', 30_000), call('two', 30_000)])
  await agent.say('go')
  expect(agent.blobs.size).toBe(1)
})

type Values = { readonly [key: string]: boolean | number }

/** One answer with these calls, then a word. The values can be changed while it runs. */
function agentWith(
  values: Values,
  calls: readonly ReturnType<typeof call>[],
  more: Omit<TestAgentOptions, 'flags' | 'simulator'> = {},
): { readonly agent: TestAgent; readonly set: (values: Values) => void } {
  let current = values
  const source: FlagSource = {
    name: 'test',
    find: (key) => (Object.hasOwn(current, key) ? current[key] : undefined),
  }
  const flags: Flags = createFlags([source])
  const script = calls.length > 0 ? [{ content: calls }, { content: [text('done')] }] : []
  return {
    agent: createTestAgent({ tools: [repeatTool], ...more, flags, simulator: { script } }),
    set: (next) => (current = next),
  }
}

/** What the model was shown for each call, in order. */
function resultsOf({ session }: TestAgent): string[] {
  return session.view.nodes.flatMap((node) =>
    node.blocks.flatMap(({ block }) =>
      block.type === 'tool_result' && typeof block['content'] === 'string' ? [block['content']] : [],
    ),
  )
}
