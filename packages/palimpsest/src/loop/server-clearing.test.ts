import { beforeAll, describe, expect, test } from 'vitest'

import { createTestAgent, echoTool, textIn, type TestAgent } from '../../../../test/kit/agent.ts'
import { windowSetup } from '../../../../test/kit/window-setup.ts'
import { cacheHistory } from '../accounts/cache-history.ts'
import { createCacheWatch } from '../accounts/cache-watch.ts'
import { CONTEXT_MANAGEMENT_BETA, serverClearing } from '../layers/2-micro-compaction/server-clearing.ts'
import { sizeOf } from '../situation/size-of.ts'
import { startCalibration } from '../tokens/calibrate.ts'
import { findModelFacts, unknownClaudeFacts } from '../wire/model-facts.ts'
import type { LoopTool } from './tool.ts'

const MODEL = 'claude-opus-4-6'
const WINDOW_TOKENS = 60_000
const TURNS = process.env['SOAK'] ? 24 : 16
const LIFETIMES = { system: '1h', messages: '5m' } as const

const facts = (model: string) => findModelFacts(model) ?? unknownClaudeFacts(model)
const wanted = {
  facts: facts(MODEL),
  tools: ['Read', 'Edit', 'Write', 'AskUser', 'mcp__db__query'],
  thinks: true,
  warningTokens: 147_000,
  scale: 1,
}

test('the request says when the provider clears, what it keeps, and what it never touches', () => {
  expect(JSON.parse(serverClearing(wanted) ?? '')).toEqual({
    edits: [
      { type: 'clear_thinking_20251015', keep: { type: 'all' } },
      {
        type: 'clear_tool_uses_20250919',
        trigger: { type: 'input_tokens', value: 147_000 },
        keep: { type: 'tool_uses', value: 5 },
        clear_at_least: { type: 'input_tokens', value: 20_000 },
        exclude_tools: ['AskUser', 'mcp__db__query'],
        clear_tool_inputs: ['Edit', 'Write'],
      },
    ],
  })
})

test('after an hour only the newest thinking is kept; without thinking it is not mentioned; the user can set the limits', () => {
  const idle = JSON.parse(serverClearing({ ...wanted, idleMs: 3_600_001 }) ?? '')
  expect(idle.edits[0].keep).toEqual({ type: 'thinking_turns', value: 1 })
  const own = { ...wanted, thinks: false, maxInputTokens: 100_000, targetInputTokens: 40_000 }
  const { edits } = JSON.parse(serverClearing(own) ?? '')
  expect(edits).toHaveLength(1)
  expect(edits[0]).toMatchObject({ trigger: { value: 100_000 }, clear_at_least: { value: 60_000 } })
})

test('a model that binds thinking is never asked to clear', () => {
  expect(serverClearing({ ...wanted, facts: facts('claude-opus-5-5') })).toBeUndefined()
})

describe('a session in which the provider clears', () => {
  const agent = clearedAgent()
  const ends: unknown[] = []

  beforeAll(async () => {
    for (let turn = 0; turn < TURNS; turn++) {
      ends.push((await agent.say(`turn ${turn}`)).end)
    }
  })

  test('the provider clears, the full history is sent, and every clearing is an entry; we clear nothing', () => {
    expect(ends).toEqual(Array.from({ length: TURNS }, () => ({ reason: 'answered' })))
    const requests = agent.simulator.requests()
    expect(new Set(requests.map(({ status }) => status))).toEqual(new Set([200]))
    expect(JSON.stringify(requests.at(-1)?.body)).toContain('src/part-0.ts')
    const edits = agent.entries.flatMap((entry) => (entry.kind === 'edit' ? [entry] : []))
    expect(edits.length).toBeGreaterThan(1)
    expect(
      new Set(edits.map(({ cause, replace, drop }) => `${cause} ${replace.length} ${drop.length}`)),
    ).toEqual(new Set(['server 0 0']))
    const { usage } = requests.at(-1) ?? {}
    const size = sizeOf(agent.session.view, {
      thinking: windowSetup(MODEL, WINDOW_TOKENS).thinking,
      calibration: startCalibration('claude-4'),
    })
    const prompt =
      (usage?.input_tokens ?? 0) +
      (usage?.cache_read_input_tokens ?? 0) +
      (usage?.cache_creation_input_tokens ?? 0)
    expect(Math.abs(size - prompt)).toBeLessThan(500)
    expect(size).toBeLessThan(windowSetup(MODEL, WINDOW_TOKENS).thresholds.auto)
  })

  test('a clearing by the provider is a predicted fall, live and from the transcript', () => {
    expect(agent.traces.filter(({ name }) => name === 'cache-break')).toEqual([])
    const reads = agent.traces.filter(({ name }) => name === 'cache-read')
    expect(reads.map(({ reason }) => reason)).toContain('server')
    const { events } = cacheHistory(agent.entries, LIFETIMES)
    expect(events.map(({ fall, readTokens }) => [fall, readTokens])).toEqual(
      reads.map(({ reason, readTokens }) => [reason, readTokens]),
    )
    expect(events.flatMap(({ break: broken }) => (broken ? [broken] : []))).toEqual([])
  })
})

function clearedAgent(): TestAgent {
  const read: LoopTool = {
    ...echoTool,
    name: 'Read',
    run: async (input) => ({ content: `${textIn(input)} is a line of the file\n`.repeat(250) }),
  }
  const rounds = Array.from({ length: TURNS }, (_, turn) => [
    { content: [{ type: 'tool_use', name: 'Read', input: { text: `src/part-${turn}.ts` } }] },
    { content: [{ type: 'text', text: 'noted' }] },
  ])
  const setup = windowSetup(MODEL, WINDOW_TOKENS)
  const clearing = serverClearing({
    ...wanted,
    tools: ['Read'],
    warningTokens: setup.thresholds.warning,
    scale: WINDOW_TOKENS / 200_000,
  })
  return createTestAgent({
    model: MODEL,
    tools: [read],
    prefix: {
      betas: ['extended-cache-ttl-2025-04-11', CONTEXT_MANAGEMENT_BETA],
      parameters: { thinking: '{"type":"adaptive"}', context_management: clearing ?? '' },
    },
    simulator: { script: rounds.flat() },
    setup: { ...setup, cacheWatch: createCacheWatch() },
  })
}
