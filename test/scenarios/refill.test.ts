import { expect, test } from 'vitest'

import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import {
  decideCompaction,
  NEAR_ROUNDS,
} from '../../packages/palimpsest/src/layers/4-compaction/when/decide.ts'
import { recordOf } from '../../packages/palimpsest/src/situation/compaction-record.ts'
import type { LoopTool } from '../../packages/palimpsest/src/loop/tool.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import type { BoundaryEntry, Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { createTestAgent, MODEL, type Said, type TestAgent } from '../kit/agent.ts'

// A window that is full again within a few rounds of every compaction: harder means are used once, then it stops and says why,
// until something changed.

const THRESHOLDS = { warning: 20_000, error: 22_000, auto: 24_000, blocking: 28_000 }
const SUMMARY = '<summary>1. Primary request: look at big things.</summary>'

type Steps = NonNullable<SimulatorOptions['script']>

/** Its results are as long as asked for, and may not be cleared. */
const fetchTool: LoopTool = {
  name: 'mcp__big__fetch',
  description: 'Fetches something.',
  inputSchema: { type: 'object' },
  isReadOnly: () => true,
  run: async ({ query, lines }) => ({
    content: Array.from(
      { length: Number(lines) },
      (_, i) => `${JSON.stringify(query)}: row ${i} of many, of no use`,
    ).join('\n'),
  }),
}

const GOOD: Steps[number] = {
  when: { source: 'compact' },
  content: [{ type: 'text', text: SUMMARY }],
  times: 99,
}
const DONE: Steps[number] = { when: { source: 'main' }, content: [{ type: 'text', text: 'Done.' }] }

function fetches(count: number, lines: number, name: string): Steps {
  return Array.from({ length: count }, (_, i) => ({
    when: { source: 'main' },
    content: [{ type: 'tool_use', name: fetchTool.name, input: { query: `${name} ${i}`, lines } }],
  }))
}

function agentOf(...script: Steps): TestAgent {
  return createTestAgent({
    tools: [fetchTool],
    simulator: { script: [GOOD, ...script] },
    setup: {
      thresholds: THRESHOLDS,
      roundsMax: 100,
      maxTokens: 32_000,
      compaction: { host: NO_HOST, isOn: true, scale: 0.15 },
    },
  })
}

function boundaries({ entries }: TestAgent): BoundaryEntry[] {
  return entries.filter((entry) => entry.kind === 'boundary')
}

function newestBoundary(agent: TestAgent): string {
  return boundaries(agent).at(-1)?.id ?? ''
}

function noticesOf({ events }: Said): string[] {
  return events.flatMap((event) => (event.type === 'notice' ? [event.text] : []))
}

/** Of about 4,000 tokens each: five fill the window, three what a compaction leaves. */
const SOME_LINES = 280
const BIG_LINES = 500

/** Main requests since the entry. */
function answersSince({ entries }: TestAgent, id: string | undefined): Entry[] {
  const from = entries.findIndex((entry) => entry.id === id)
  return entries.slice(from).filter((entry) => entry.kind === 'message' && entry.message.role === 'assistant')
}

interface Filled {
  readonly agent: TestAgent
  readonly said: Said
}

async function fill(): Promise<Filled> {
  const agent = agentOf(...fetches(60, SOME_LINES, 'big'), DONE)
  return { agent, said: await agent.say('Fetch.') }
}

let filled: Promise<Filled> | undefined

/** The one that nobody changes. */
const filledOnce = async (): Promise<Filled> => await (filled ??= fill())

test('three refills force results to disk and the tail to one round; a fourth stops, names what takes the room, and stays stopped however many rounds follow', async () => {
  const { agent, said } = await filledOnce()
  const records = boundaries(agent).map(recordOf)
  expect(records.map((record) => record?.refills)).toEqual([0, 1, 2, 3])
  expect(records.map((record) => record?.near)).toEqual([false, true, true, true])
  // Behind the fourth only the last round is left.
  const fourth = agent.entries.findIndex(({ id }) => id === boundaries(agent)[3]?.id)
  const next = agent.entries.slice(fourth).find((entry) => entry.kind === 'message' && entry.usage)
  const tokens = next?.kind === 'message' ? (next.usage?.cache_creation_input_tokens ?? 0) : Infinity
  expect(tokens).toBeLessThan(0.3 * THRESHOLDS.auto)
  // Said once, with the right names.
  const notices = noticesOf(said)
  expect(notices).toHaveLength(1)
  expect(notices[0]).toContain('automatic compaction stops')
  expect(notices[0]).toMatch(/by: mcp__big__fetch big \d+ \(\d+ tokens\); mcp__big__fetch big/)
  // Results go to disk as far as they must: the session goes on for more than five rounds, until nothing is left to be stored.
  expect(answersSince(agent, boundaries(agent)[3]?.id).length).toBeGreaterThan(NEAR_ROUNDS)
  expect(said.end.reason).toBe('window-full')
})

test.each([
  ['a compaction by hand', async (agent: TestAgent) => void (await agent.compact())],
  ['an undo', async (agent: TestAgent) => await agent.add({ kind: 'void', target: newestBoundary(agent) })],
])('what had stopped starts again after %s', async (_what, change) => {
  const { agent } = await fill()
  const count = boundaries(agent).length
  expect((await agent.say('Again?')).end.reason).toBe('window-full')
  expect(boundaries(agent)).toHaveLength(count)
  await change(agent)
  const before = boundaries(agent).length
  agent.simulator.reset()
  agent.simulator.addSteps([GOOD, ...fetches(12, SOME_LINES, 'more'), DONE])
  await agent.say('Go on.')
  expect(boundaries(agent).length).toBeGreaterThan(before)
})

test.each([
  ['another model', { model: 'claude-opus-5' }],
  ['a larger window', { thresholdTokens: 30_000 }],
])('what had stopped starts again with %s', async (_what, changed) => {
  const { agent } = await filledOnce()
  const moment = {
    now: 0,
    cause: 'threshold',
    source: 'main',
    model: MODEL,
    thresholdTokens: THRESHOLDS.auto,
  } as const
  expect(decideCompaction(agent.session.view, moment)).toEqual({ kind: 'stop' })
  expect(decideCompaction(agent.session.view, { ...moment, cause: 'idle' })).toEqual({ kind: 'stop' })
  expect(decideCompaction(agent.session.view, { ...moment, ...changed })).toMatchObject({
    kind: 'compact',
    harder: false,
    record: { refills: 0 },
  })
})

test('if nothing can go to disk, the session ends at the blocking limit with a clear message, and a compaction by hand revives it', async () => {
  const said = (name: string): Steps[number] => ({
    when: { source: 'main' },
    content: [
      { type: 'text', text: longText(name) },
      { type: 'tool_use', name: fetchTool.name, input: { query: name, lines: 1 } },
    ],
  })
  const agent = agentOf(...Array.from({ length: 20 }, (_, i) => said(`essay ${i}`)), DONE)
  const turn = await agent.say('Write.')
  expect(turn.end.reason).toBe('window-full')
  expect(turn.end).toHaveProperty('message', expect.stringContaining(`the limit is ${THRESHOLDS.blocking}`))
  expect(noticesOf(turn)).toEqual([
    expect.stringMatching(/stops\. The most room is taken by: answer \(\d+ tokens\)/),
  ])
  const count = boundaries(agent).length
  expect((await agent.say('Hello?')).end.reason).toBe('window-full')
  expect((await agent.compact()).kind).toBe('compacted')
  expect(boundaries(agent)).toHaveLength(count + 1)
  expect(recordOf(boundaries(agent).at(-1))?.refills).toBe(0)
  agent.simulator.reset()
  agent.simulator.addSteps([GOOD, DONE])
  expect((await agent.say('Go on.')).end).toEqual({ reason: 'answered' })
})

function longText(name: string): string {
  return Array.from({ length: BIG_LINES }, (_, i) => `${name}: sentence ${i} of no use.`).join('\n')
}
