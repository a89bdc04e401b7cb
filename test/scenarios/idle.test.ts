import { expect, test } from 'vitest'

import { CLEARED_TEXT } from '../../packages/palimpsest/src/layers/2-micro-compaction/stand-in.ts'
import type { LoopTool } from '../../packages/palimpsest/src/loop/tool.ts'
import type { Source } from '../../packages/palimpsest/src/ports.ts'
import { STRICT_SWITCHES } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { createTestAgent, echoTool, type TestAgent } from '../kit/agent.ts'
import { startsWithAll } from '../kit/headless.ts'
import { windowSetup } from '../kit/window-setup.ts'

// The user goes away and comes back, on a virtual clock: what is in the cache no longer is not sent whole again.

const MODEL = 'claude-opus-5'
const MINUTE_MS = 60_000
const RESULTS = 20
/** So many are read by an answer. */
const AT_ONCE = process.env['SOAK'] ? 1 : 5

test.each([
  ['1h', 61, 5],
  ['1h', 59, RESULTS],
  ['5m', 5.6, 15],
  ['5m', 4.5, RESULTS],
] as const)(
  'messages cached for %s, %d minutes idle: %d of 20 results stay',
  async (lifetime, minutes, kept) => {
    const agent = await workedAgent(lifetime)
    await comeBack(agent, minutes)
    expect(clearedIn(agent)).toBe(RESULTS - kept)
    expect(edits(agent)).toBe(kept < RESULTS ? 1 : 0)
    const [before, after] = lastBodies(agent)
    expect(startsWithAll(after, before)).toBe(kept === RESULTS)
  },
)

test.each([
  ['1h', 61],
  ['5m', 5.6],
] as const)(
  '(C1) messages cached for %s, idle %d minutes again and again: cleared once, then nothing changes',
  async (lifetime, minutes) => {
    const agent = await workedAgent(lifetime)
    await comeBack(agent, minutes)
    const cleared = clearedIn(agent)
    expect(cleared).toBeGreaterThan(0)
    for (let pause = 0; pause < 3; pause++) {
      await comeBack(agent, minutes)
      const [before, after] = lastBodies(agent)
      expect([clearedIn(agent), edits(agent)]).toEqual([cleared, 1])
      expect(startsWithAll(after, before)).toBe(true)
    }
  },
)

test.each([
  ['main', 1],
  ['main:other', 1],
  ['subagent:explore', 0],
  ['compact', 0],
] as const)('idle for hours, with the source "%s": %d edits', async (source, made) => {
  const agent = await workedAgent('5m', source)
  await comeBack(agent, 600)
  expect(edits(agent)).toBe(made)
})

test('a cleared result that was stored on disk still names its path', async () => {
  const large = { ...readTool, run: async () => ({ content: 'a line of words\n'.repeat(5_000) }) }
  const agent = await workedAgent('1h', 'main', large)
  await comeBack(agent, 61)
  const [, after] = lastBodies(agent)
  const paths = agent.entries.flatMap((entry) =>
    entry.kind === 'stored' ? [`/blobs/${entry.blob.path}`] : [],
  )
  expect(paths).toHaveLength(RESULTS)
  expect(clearedIn(agent)).toBe(RESULTS - 5)
  expect(paths.filter((path) => !JSON.stringify(after).includes(`stored whole in ${path}`))).toEqual([])
})

/** About 1,300 tokens. */
const RESULT_LINES = 100

const readTool: LoopTool = {
  ...echoTool,
  name: 'Read',
  run: async (input) => ({
    content: Array.from({ length: RESULT_LINES }, (_, i) => `${JSON.stringify(input)} ${i}`).join('\n'),
  }),
}

/** An agent that has read twenty files in one turn. */
async function workedAgent(
  lifetime: '5m' | '1h',
  source: Source = 'main',
  tool: LoopTool = readTool,
): Promise<TestAgent> {
  const calls = Array.from({ length: RESULTS }, (_, i) => ({
    type: 'tool_use',
    name: 'Read',
    input: { file_path: `/src/file-${i}.ts` },
  }))
  const reads = Array.from({ length: RESULTS / AT_ONCE }, (_, i) => ({
    content: calls.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
  }))
  const agent = createTestAgent({
    model: MODEL,
    tools: [tool],
    simulator: {
      script: [...reads, { content: [{ type: 'text', text: 'read' }] }],
      switches: { ...STRICT_SWITCHES, pastScript: 'refuse' },
    },
    setup: { ...windowSetup(MODEL, 200_000), lifetimes: { system: '1h', messages: lifetime }, source },
  })
  expect((await agent.say('read all')).end).toEqual({ reason: 'answered' })
  return agent
}

async function comeBack(agent: TestAgent, minutes: number): Promise<void> {
  agent.wait(minutes * MINUTE_MS)
  agent.simulator.addSteps([{ content: [{ type: 'text', text: 'here' }] }])
  expect((await agent.say('are you there?')).end).toEqual({ reason: 'answered' })
}

function lastBodies({ simulator }: TestAgent): [string | object, string | object] {
  const [before, after] = simulator.requests().slice(-2)
  return [before?.body ?? '', after?.body ?? '']
}

function clearedIn(agent: TestAgent): number {
  const [, after] = lastBodies(agent)
  return (typeof after === 'string' ? after : JSON.stringify(after)).split(CLEARED_TEXT).length - 1
}

function edits({ entries }: TestAgent): number {
  return entries.filter(({ kind }) => kind === 'edit').length
}
