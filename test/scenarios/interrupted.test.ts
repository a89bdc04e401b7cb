import { describe, expect, test } from 'vitest'

import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import { costOfUsage } from '../../packages/palimpsest/src/ledger/prices.ts'
import { createCacheWatch } from '../../packages/palimpsest/src/accounts/cache-watch.ts'
import { STRICT_SWITCHES, type ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { Entry, MessageEntry, SpentEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { isBlock, toBlocks } from '../../packages/palimpsest/src/wire/message.ts'
import { promptTokens, type Usage } from '../../packages/palimpsest/src/wire/usage.ts'
import { cutAnswer } from '../kit/cut-answer.ts'
import { createTestAgent, type TestAgent, type TestAgentOptions } from '../kit/agent.ts'

// An answer that does not come to its end. What the user saw of it stays and the model is told; what it cost is on the bill. Cut at
// every event of its stream, and judged by the strict simulator with the next message.

const WORDS =
  'First I look at the parser, then at the printer, and then I say what is wrong with them. '.repeat(3)
const ANSWER: ScriptStep = {
  content: [
    { type: 'thinking', thinking: 'The parser first, then the printer. '.repeat(3) },
    { type: 'text', text: WORDS },
    { type: 'tool_use', name: 'Echo', input: { text: 'parser '.repeat(10) } },
  ],
}
const NEXT: ScriptStep = { content: [{ type: 'text', text: 'Yes, I know what I said.' }], times: 9 }
/** Of that answer, before the provider tells what it cost. Each is the last one once. */
const EVENTS = 31

const MANUAL = { parameters: { thinking: '{"type":"enabled","budget_tokens":2000}' } }

/** In CI a model of each kind but the newest is stopped at some events only. */
const APART = process.env['SOAK'] ? 1 : 5

describe.each<TestAgentOptions & { readonly apart: number }>([
  { model: 'claude-opus-5-5', apart: 1 },
  { model: 'claude-opus-4-6', apart: APART },
  { model: 'claude-sonnet-4-5', prefix: MANUAL, apart: APART },
])('$model', ({ apart, ...options }) => {
  test('wherever the user stops an answer, what was seen stays, the next request is valid, and both are on the bill', async () => {
    const kept = new Set<string>()
    for (let events = 0; events <= EVENTS; events += apart) {
      const { agent, seen } = await stopAfter(events, options)
      const [answer] = messages(agent, 'assistant')
      const asked = agent.simulator.requests().at(-1)
      const shown = seen.trimEnd()
      expect({ events, text: answer ? textOf(answer) : '' }).toEqual({ events, text: shown })
      expect(answer?.interrupted).toBe(shown === '' ? undefined : true)
      const bill = spent(agent)
      expect({ events, bills: bill.length, isEstimate: bill[0]?.estimated }).toEqual({
        events,
        bills: 1,
        isEstimate: true,
      })
      expectInput(bill[0], asked?.usage)
      const said = await agent.say('And now?')
      expect({ events, end: said.end, text: said.text }).toEqual({
        events,
        end: { reason: 'answered' },
        text: 'Yes, I know what I said.',
      })
      const requests = agent.simulator.requests()
      expect(requests.map(({ status }) => status)).toEqual([200, 200])
      const body = JSON.stringify(requests.at(-1)?.body)
      if (shown !== '') expect(body).toContain('was stopped here, before it was complete')
      expect(body.includes(JSON.stringify(shown).slice(1, -1))).toBe(true)
      expect(agent.traces.filter(({ name }) => name === 'input-transformed')).toEqual([])
      kept.add(
        toBlocks(answer?.message.content ?? [])
          .map(({ type }) => type)
          .join(),
      )
    }
    expect(kept).toEqual(new Set(['', 'thinking,text']))
  })
})

test('an answer that is stopped right before its end costs what the provider says it cost', async () => {
  const { agent } = await stopAfter(EVENTS + 1, {})
  const [bill] = spent(agent)
  expect(bill?.usage.output_tokens).toBe(agent.simulator.requests()[0]?.usage?.output_tokens)
  expect(bill?.estimated).toBeUndefined()
  expect(messages(agent, 'assistant')[0]?.interrupted).toBe(true)
})

test('an answer that was complete before the stop is kept unchanged, with its own usage', async () => {
  const abort = new AbortController()
  const agent = createTestAgent({
    simulator: { ...STRICT, script: [ANSWER, NEXT] },
    fetch: async (input, init) => {
      const response = await agent.simulator.fetch(new Request(input, { ...init, signal: null }))
      const whole = new TextEncoder().encode(await response.text())
      let isGiven = false
      // Nothing is given before it is asked for: who asks again has taken the end of the answer.
      const body = new ReadableStream(
        {
          pull: (controller) => {
            if (isGiven) {
              abort.abort()
              controller.close()
            } else controller.enqueue(whole)
            isGiven = true
          },
        },
        { highWaterMark: 0 },
      )
      return new Response(body, response)
    },
  })
  await agent.say('go', abort.signal)
  const [answer] = messages(agent, 'assistant')
  expect(answer?.usage?.output_tokens).toBe(agent.simulator.requests()[0]?.usage?.output_tokens)
  expect(spent(agent)).toEqual([])
  expect((await agent.say('And now?')).end).toEqual({ reason: 'answered' })
})

test('an answer cut off by the network is reported as void and requested again; both are on the bill', async () => {
  const agent = createTestAgent({
    simulator: {
      ...STRICT,
      script: [{ ...ANSWER, content: ANSWER.content.slice(0, 2), times: 9 }],
      faults: [{ match: {}, times: 1, fault: { type: 'disconnect', after_bytes: 3_000 } }],
    },
  })
  const { events, end } = await agent.say('go')
  expect(end).toEqual({ reason: 'answered' })
  expect(events.map(({ type }) => type)).toContain('answer-discarded')
  expect(messages(agent, 'assistant').map(({ interrupted }) => interrupted)).toEqual([undefined])
  const [bill] = spent(agent)
  expect(bill?.estimated).toBe(true)
  expectInput(bill, agent.simulator.requests()[0]?.usage)
})

test('an answer that was reported as void is not kept if the user stops waiting for another', async () => {
  const abort = new AbortController()
  const agent = createTestAgent({
    simulator: {
      ...STRICT,
      script: [{ ...ANSWER, content: ANSWER.content.slice(0, 2) }, NEXT],
      faults: [{ match: {}, times: 1, fault: { type: 'disconnect', after_bytes: 3_000 } }],
    },
    onEvent: (event) => {
      if (event.type === 'retry-wait') abort.abort()
    },
  })
  expect((await agent.say('go', abort.signal)).end).toEqual({ reason: 'aborted' })
  expect(messages(agent, 'assistant')).toEqual([])
  expect(spent(agent)).toHaveLength(1)
})

test('if asking again is pointless, what arrived in the last attempt is kept', async () => {
  const agent = createTestAgent({
    simulator: {
      ...STRICT,
      script: [{ ...ANSWER, content: ANSWER.content.slice(0, 2), times: 8 }, NEXT],
      faults: [{ match: {}, times: 8, fault: { type: 'disconnect', after_bytes: 3_000 } }],
    },
  })
  const { end } = await agent.say('go')
  expect(end).toMatchObject({ reason: 'failed', keepsAnswer: true })
  const answers = messages(agent, 'assistant')
  expect(answers.map(({ interrupted }) => interrupted)).toEqual([true])
  expect(WORDS).toContain(textOf(answers[0]))
  expect(spent(agent)).toHaveLength(8)
  expect((await agent.say('And now?')).text).toBe('Yes, I know what I said.')
})

test('a faulty answer costs what the provider says it cost', async () => {
  const upload = { type: 'container_upload', file_id: 'file_1' }
  let isFirst = true
  const agent = createTestAgent({
    simulator: { ...STRICT, script: [{ content: [upload] }, NEXT] },
    fetch: async (input, init) => {
      const response = await agent.simulator.fetch(new Request(input, init))
      const text = await response.text()
      const faulty = isFirst ? text.replace('file_id', 'no_such_field') : text
      isFirst = false
      return new Response(faulty, response)
    },
  })
  expect((await agent.say('go')).end).toEqual({ reason: 'answered' })
  const [bill] = spent(agent)
  expect(bill).toMatchObject({
    source: 'main',
    usage: { output_tokens: agent.simulator.requests()[0]?.usage?.output_tokens },
  })
  expect(bill?.estimated).toBeUndefined()
})

test('a compaction that is cancelled while it is written is on the bill', async () => {
  const abort = new AbortController()
  const agent = createTestAgent({
    simulator: {
      ...STRICT,
      script: [
        { content: [{ type: 'text', text: WORDS.repeat(40) }], times: 3 },
        {
          content: [{ type: 'text', text: `<summary>${WORDS.repeat(20)}</summary>` }],
          when: { source: 'compact' },
        },
        NEXT,
      ],
    },
    setup: { compaction: { host: NO_HOST, isOn: true, scale: 1 } },
    fetch: async (input, init) => {
      const request = new Request(input, init)
      const response = await agent.simulator.fetch(request)
      return request.headers.get('x-palimpsest-source') === 'compact'
        ? cutAnswer(response, 12, abort)
        : response
    },
  })
  for (const words of ['one', 'two', 'three']) await agent.say(words)
  await expect(agent.compact(undefined, abort.signal)).rejects.toMatchObject({ name: 'AbortError' })
  expect((await agent.say('And now?')).end).toEqual({ reason: 'answered' })
  const [bill] = spent(agent)
  expect(bill).toMatchObject({ source: 'compact', estimated: true })
  expect(promptTokens(bill?.usage ?? NOTHING)).toBeGreaterThan(1_000)
})

const STRICT = { switches: { ...STRICT_SWITCHES, pastScript: 'refuse' } } as const
const NOTHING = { input_tokens: 0, output_tokens: 0 }

/** One answer, stopped by the user after so many events of its stream; and the text that was shown by then. */
async function stopAfter(
  events: number,
  options: TestAgentOptions,
): Promise<{ readonly agent: TestAgent; readonly seen: string }> {
  const abort = new AbortController()
  let seen = ''
  const agent: TestAgent = createTestAgent({
    ...options,
    simulator: { ...STRICT, script: [ANSWER, NEXT] },
    setup: { cacheWatch: createCacheWatch() },
    onEvent: (event) => {
      if (event.type === 'text-delta') seen += event.text
    },
    fetch: async (input, init) => {
      const response = await agent.simulator.fetch(new Request(input, init))
      return abort.signal.aborted ? response : cutAnswer(response, events, abort)
    },
  })
  const { end } = await agent.say('Look at it.', abort.signal)
  expect({ events, reason: end.reason }).toEqual({ events, reason: 'aborted' })
  return { agent, seen }
}

function messages({ entries }: TestAgent, role: string): readonly MessageEntry[] {
  return entries.filter(
    (entry): entry is MessageEntry => entry.kind === 'message' && entry.message.role === role,
  )
}

function spent({ entries }: { readonly entries: readonly Entry[] }): readonly SpentEntry[] {
  return entries.filter((entry): entry is SpentEntry => entry.kind === 'spent')
}

function textOf(entry: MessageEntry | undefined): string {
  return toBlocks(entry?.message.content ?? [])
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('')
}

/** As the provider bills the prompt, or as near as the first estimate of a conversation comes. */
function expectInput(bill: SpentEntry | undefined, asked: Usage | null | undefined): void {
  const [estimated, real] = [bill?.usage ?? NOTHING, asked ?? NOTHING].map((usage) => ({
    tokens: promptTokens(usage),
    usd: costOfUsage({ ...usage, output_tokens: 0 }, [
      { input: 1, output: 1, read: 0.1, write5m: 1.25, write1h: 2 },
    ]),
  }))
  expect(Math.abs((estimated?.tokens ?? 0) / (real?.tokens ?? 1) - 1)).toBeLessThan(0.35)
  expect(Math.abs((estimated?.usd ?? 0) / (real?.usd ?? 1) - 1)).toBeLessThan(0.35)
}
