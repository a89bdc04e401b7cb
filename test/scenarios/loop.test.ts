import { expect, test } from 'vitest'
import { createTestAgent, echoTool, textIn } from '../kit/agent.ts'
import type { LoopTool } from '../../packages/palimpsest/src/loop/tool.ts'

const text = (said: string) => ({ type: 'text', text: said }) as const
const call = (said: string) => ({ type: 'tool_use', name: 'Echo', input: { text: said } }) as const

test('a turn runs tools until the model answers, and its requests share their prefix', async () => {
  const agent = createTestAgent({
    simulator: {
      script: [
        { content: [{ type: 'thinking', thinking: 'look' }, call('one'), call('two')] },
        { content: [call('three')] },
        { content: [text('done')] },
      ],
    },
  })
  const said = await agent.say('go')
  expect(said.end).toEqual({ reason: 'answered' })
  expect(said.text).toBe('done')
  const requests = agent.simulator.requests()
  expect(requests.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(requests.map(({ cache_explanation: why }) => why?.kind)).toEqual(['first', 'hit', 'hit'])
  expect(agent.entries.map(({ kind }) => kind)).toEqual([
    'prefix',
    ...Array.from({ length: 7 }, () => 'message'),
  ])
})

test('calls that only read run in parallel, calls that write run alone and in order', async () => {
  const log: string[] = []
  const tool = (name: string, reads: boolean): LoopTool => ({
    ...echoTool,
    name,
    isReadOnly: () => reads,
    run: async (input) => {
      log.push(`start ${name} ${textIn(input)}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
      log.push(`end ${name} ${textIn(input)}`)
      return { content: 'ok' }
    },
  })
  const use = (name: string, said: string) => ({ type: 'tool_use', name, input: { text: said } }) as const
  const agent = createTestAgent({
    tools: [tool('Look', true), tool('Write', false)],
    simulator: {
      script: [
        {
          content: [
            use('Look', '1'),
            use('Look', '2'),
            use('Write', '3'),
            use('Write', '4'),
            use('Look', '5'),
          ],
        },
        { content: [text('done')] },
      ],
    },
  })
  await agent.say('go')
  expect(log).toEqual([
    'start Look 1',
    'start Look 2',
    'end Look 1',
    'end Look 2',
    'start Write 3',
    'end Write 3',
    'start Write 4',
    'end Write 4',
    'start Look 5',
    'end Look 5',
  ])
})

test('an unknown tool, a throwing tool and a refused call are answered, and the turn continues', async () => {
  const agent = createTestAgent({
    tools: [
      echoTool,
      {
        ...echoTool,
        name: 'Throw',
        run: () => {
          throw new Error('out of paper')
        },
      },
    ],
    setup: {
      permit: async (tool) =>
        tool.name === 'Echo' ? { allow: false, reason: 'Not allowed here.' } : { allow: true },
    },
    simulator: {
      script: [
        {
          content: [
            { type: 'tool_use', name: 'Nothing', input: {} },
            { type: 'tool_use', name: 'Throw', input: { text: '' } },
            call('hello'),
          ],
        },
        { content: [text('I see')] },
      ],
    },
  })
  const said = await agent.say('go')
  expect(said.text).toBe('I see')
  const results = agent.entries.filter((entry) => entry.kind === 'message' && entry.origin === 'tool')
  expect(JSON.stringify(results)).toContain('There is no tool named Nothing. The tools are: Echo, Throw.')
  expect(JSON.stringify(results)).toContain('Throw failed: out of paper')
  expect(JSON.stringify(results)).toContain('Not allowed here.')
})

test('at the output limit the model is asked to continue, at most twice', async () => {
  const agent = createTestAgent({
    simulator: { script: [{ content: [text('part')], stop_reason: 'max_tokens', times: 5 }] },
  })
  const said = await agent.say('write a lot')
  expect(said.end).toEqual({ reason: 'answered' })
  expect(agent.simulator.requests()).toHaveLength(3)
})

test('a paused answer is sent back unchanged', async () => {
  const agent = createTestAgent({
    simulator: {
      script: [
        {
          content: [text('wait'), { type: 'server_tool_use', name: 'web_search', input: { query: 'x' } }],
          stop_reason: 'pause_turn',
        },
        { content: [text('done')] },
      ],
    },
  })
  const said = await agent.say('search')
  expect(said.text).toBe('done')
  expect(agent.simulator.requests().map(({ status }) => status)).toEqual([200, 200])
})

test('a refusal ends the turn and says so; the conversation continues', async () => {
  const agent = createTestAgent({
    simulator: { script: [{ content: [], stop_reason: 'refusal' }, { content: [text('hello')] }] },
  })
  expect((await agent.say('x')).end.reason).toBe('refused')
  expect((await agent.say('y')).text).toBe('hello')
})

test('a full window ends the turn with a sentence that names the fix', async () => {
  const agent = createTestAgent({
    simulator: { script: [{ content: [text('half')], stop_reason: 'model_context_window_exceeded' }] },
  })
  expect((await agent.say('x')).end).toEqual({
    reason: 'window-full',
    message:
      'The answer stopped because the window is full. Compact the conversation, or start a new session.',
  })
})

test.each([
  ['429 with retry-after', { type: 'status', status: 429, headers: { 'retry-after': '7' } }, [7000]],
  ['429 without retry-after', { type: 'status', status: 429 }, [500]],
  ['529', { type: 'status', status: 529 }, [500]],
  ['500', { type: 'status', status: 500 }, [500]],
  ['408', { type: 'status', status: 408 }, [500]],
  ['a cut stream', { type: 'disconnect', after_bytes: 700 }, [500], ['spent']],
  ['garbage', { type: 'garbage' }, [500], ['spent']],
] as const)(
  'after %s the same request is sent again, and nothing of the fault remains but its cost',
  async (_name, fault, waits, bill: readonly string[] = []) => {
    const agent = createTestAgent({
      simulator: {
        script: [{ content: [text('a long and whole answer '.repeat(20))], times: 9 }],
        faults: [{ match: {}, times: 1, fault }],
      },
    })
    const said = await agent.say('go')
    expect(said.end).toEqual({ reason: 'answered' })
    expect(agent.waits).toEqual(waits)
    const bodies = agent.simulator.requests().map(({ body }) => JSON.stringify(body))
    expect(new Set(bodies).size).toBe(1)
    expect(agent.entries.map(({ kind }) => kind)).toEqual(['prefix', 'message', 'message', ...bill])
  },
)

test('a provider that stays overloaded ends the turn with one clear error, and the next turn works', async () => {
  const agent = createTestAgent({
    simulator: {
      script: [{ content: [text('back')] }],
      faults: [{ match: {}, times: 8, fault: { type: 'status', status: 529 } }],
    },
  })
  const said = await agent.say('go')
  expect(said.end.reason).toBe('failed')
  expect(agent.waits).toEqual([500, 1000, 2000, 4000, 8000, 16000, 32000])
  expect((await agent.say('again')).text).toBe('back')
})

test('an abort during an answer leaves a valid conversation', async () => {
  const abort = new AbortController()
  const agent = createTestAgent({
    simulator: { script: [{ content: [text('one two three '.repeat(50))] }, { content: [text('fine')] }] },
    onEvent: (event) => {
      if (event.type === 'text-delta') abort.abort()
    },
  })
  expect((await agent.say('go', abort.signal)).end).toEqual({ reason: 'aborted', keepsAnswer: true })
  expect((await agent.say('again')).text).toBe('fine')
})

test('(V1) an abort between calls gives those that never ran an interrupted result', async () => {
  const abort = new AbortController()
  const agent = createTestAgent({
    tools: [{ ...echoTool, isReadOnly: () => false }],
    simulator: {
      script: [{ content: [call('one'), call('two'), call('three')] }, { content: [text('fine')] }],
    },
    onEvent: (event) => {
      if (event.type === 'tool-end') abort.abort()
    },
  })
  expect((await agent.say('go', abort.signal)).end).toEqual({ reason: 'aborted' })
  expect(agent.session.view.open.size).toBe(0)
  expect((await agent.say('again')).text).toBe('fine')
  const interrupted = agent.entries.filter(
    (entry) => entry.kind === 'message' && entry.part === 'interrupted',
  )
  expect(interrupted).toHaveLength(2)
})

test('a stalled provider is abandoned after the idle limit and asked again', async () => {
  const agent = createTestAgent({
    idleMsMax: 40,
    simulator: {
      clock: 'real',
      script: [{ content: [text('late but whole')], times: 3 }],
      faults: [{ match: {}, times: 1, fault: { type: 'stall', ms: 5_000 } }],
    },
  })
  const said = await agent.say('go')
  expect(said.end).toEqual({ reason: 'answered' })
  expect(said.events.filter(({ type }) => type === 'retry-wait')).toHaveLength(1)
})

test('a page of HTML instead of an answer is reported as such, with the fix', async () => {
  const agent = createTestAgent({
    fetch: async () => new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } }),
  })
  const { end } = await agent.say('go')
  expect(end).toMatchObject({ reason: 'failed', failure: { kind: 'bad-output' } })
  expect(end.reason === 'failed' && end.message).toContain('answered with text/html')
  expect(end.reason === 'failed' && end.message).toContain('Check the base URL')
})
