import { expect, test } from 'vitest'

import { NO_HOST } from '../../packages/palimpsest/src/engine/no-host.ts'
import { recordOf } from '../../packages/palimpsest/src/layers/4-compaction/record.ts'
import type { LoopTool } from '../../packages/palimpsest/src/loop/tool.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/simulator/create-simulator.ts'
import type { BoundaryEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { createTestAgent, type Said, type TestAgent } from '../kit/agent.ts'

// A window that is full again within a few rounds of every compaction: harder means are used once, then it stops and says why.

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

function noticesOf({ events }: Said): string[] {
  return events.flatMap((event) => (event.type === 'notice' ? [event.text] : []))
}

/** Of about 7,000 tokens each: two or three fill what a compaction leaves. */
const BIG_LINES = 500

test('three refills force results to disk and the tail to one round; a fourth stops and names what takes the room; five rounds later it compacts again', async () => {
  const agent = agentOf(...fetches(16, BIG_LINES, 'big'), DONE)
  const said = await agent.say('Fetch.')
  expect(said.end).toEqual({ reason: 'answered' })
  const records = boundaries(agent).map(recordOf)
  expect(records.slice(0, 5).map((record) => record?.refills)).toEqual([0, 1, 2, 3, 0])
  expect(records.slice(0, 5).map((record) => record?.near)).toEqual([false, true, true, true, false])
  // Behind the fourth: one round is left, and its result is on disk.
  const fourth = agent.entries.findIndex(({ id }) => id === boundaries(agent)[3]?.id)
  const behind = agent.entries.slice(fourth).map(({ kind }) => kind)
  expect(behind.slice(0, 3)).toEqual(['boundary', 'message', 'stored'])
  const next = agent.entries.slice(fourth).find((entry) => entry.kind === 'message' && entry.usage)
  const tokens = next?.kind === 'message' ? (next.usage?.cache_creation_input_tokens ?? 0) : Infinity
  expect(tokens).toBeLessThan(0.2 * THRESHOLDS.auto)
  // Said once, with the right names.
  const notices = noticesOf(said)
  expect(notices).toHaveLength(1)
  expect(notices[0]).toContain('automatic compaction stops')
  expect(notices[0]).toMatch(/by: mcp__big__fetch big 1[01] \(\d+ tokens\); mcp__big__fetch big/)
  const fifth = boundaries(agent)[4]
  const between = agent.entries.slice(
    fourth,
    agent.entries.findIndex(({ id }) => id === fifth?.id),
  )
  const rounds = between.filter((entry) => entry.kind === 'message' && entry.message.role === 'assistant')
  expect(rounds.length).toBeGreaterThanOrEqual(5)
})

test('where nothing can go to disk the session ends at the blocking limit with a clear message, and a compaction by hand revives it', async () => {
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
