import { describe, expect, test } from 'vitest'

import {
  createTestAgent,
  echoTool,
  textIn,
  type TestAgent,
  type TestAgentOptions,
} from '../../../../test/kit/agent.ts'
import { windowSetup } from '../../../../test/kit/window-setup.ts'
import { cacheHistory } from '../accounts/cache-history.ts'
import { createCacheWatch, type CacheBreak } from '../accounts/cache-watch.ts'
import { NO_HOST } from '../layers/4-compaction/compaction-host.ts'
import { COMPACTION_BETA } from '../layers/4-compaction/summary/server-compaction.ts'
import { messageBody } from '../situation/session.ts'
import { createFlags } from '../flags/create-flags.ts'
import type { PrefixEntry } from '../transcript/entry.ts'
import type { LoopEvent } from './events.ts'
import type { LoopTool } from './tool.ts'

const MINUTE_MS = 60_000
const LIFETIMES = { system: '1h', messages: '5m' } as const
const TURNS = process.env['SOAK'] ? 20 : 12
const LONG = 'What was read from the cache, and what must have been in it. '.repeat(500)

const text = { type: 'text', text: 'noted' } as const
const tools: readonly LoopTool[] = ['First', 'Second', 'Third'].map((name) => ({ ...echoTool, name }))

describe('a break of the cache', () => {
  test("a tool's description that changes mid-session is reported, with the name of the tool", async () => {
    const agent = watchedAgent()
    await agent.say(LONG)
    await agent.say('go on')
    const expected = agent.simulator.requests().at(-1)?.input_tokens
    await agent.add(changed(agent, { tools: prefixOf(agent).tools.replaceAll('Says back', 'Repeats') }))
    const said = await agent.say('and on')
    expect(breaksIn(said.events)).toEqual([
      { cause: 'tools', path: 'tools.0', expectedTokens: expected, readTokens: 0 },
    ])
    expect(agent.traces.filter(({ name }) => name === 'cache-break')).toEqual([
      expect.objectContaining({ reason: 'tools', path: 'tools.0', expectedTokens: expected, readTokens: 0 }),
    ])
    await agent.say('it is told once')
    expect(agent.traces.filter(({ name }) => name === 'cache-break')).toHaveLength(1)
  })

  test.each([
    [
      'the last of three tools',
      (agent: TestAgent) => ({ tools: replaceLast(prefixOf(agent).tools, 'Says back', 'Repeats') }),
      'tools',
      'tools.2',
    ],
    [
      'one tool fewer',
      (agent: TestAgent) => ({ tools: withoutLastTool(prefixOf(agent).tools) }),
      'tools',
      'tools.2',
    ],
    ['the system prompt', () => ({ system: '[{"type":"text","text":"Another."}]' }), 'system', 'system.0'],
    ['the model', () => ({ model: 'claude-opus-5' }), 'model', 'model'],
    [
      'the betas',
      () => ({ betas: ['extended-cache-ttl-2025-04-11', 'context-1m-2025-08-07'] }),
      'betas',
      'betas',
    ],
    [
      'the effort',
      () => ({ parameters: { thinking: '{"type":"adaptive"}', output_config: '{"effort":"low"}' } }),
      'output_config',
      'output_config',
    ],
  ])('%s: the cause is named', async (_what, change, cause, path) => {
    const agent = watchedAgent()
    await agent.say(LONG)
    await agent.add(changed(agent, change(agent)))
    const said = await agent.say('go on')
    expect(said.end).toEqual({ reason: 'answered' })
    expect(breaksIn(said.events).map((broken) => [broken.cause, broken.path])).toEqual([[cause, path]])
  })

  test('bytes that change without our knowledge are reported too, without a position', async () => {
    let spoil = false
    const agent: TestAgent = watchedAgent({
      fetch: async (input, init) => {
        const request = new Request(input, init)
        const body = await request.text()
        const sent = spoil ? body.replace('What was', 'what was') : body
        return await agent.simulator.fetch(
          new Request(request.url, { method: 'POST', headers: request.headers, body: sent }),
        )
      },
    })
    await agent.say(LONG)
    spoil = true
    const [broken] = breaksIn((await agent.say('go on')).events)
    expect(broken).toMatchObject({ cause: 'unknown', path: 'messages.0.content.0' })
  })

  test('the flag disables the report', async () => {
    const flags = createFlags([
      { name: 'off', find: (key) => (key === 'cache-break-detection' ? false : undefined) },
    ])
    const agent = watchedAgent({ flags })
    await agent.say(LONG)
    await agent.add(changed(agent, { system: '[]' }))
    expect(breaksIn((await agent.say('go on')).events)).toEqual([])
    expect(agent.traces.map(({ name }) => name)).not.toContain('cache-break')
  })
})

describe('a predicted fall is no break', () => {
  test('without edits every request reads exactly what is expected', async () => {
    const agent = watchedAgent()
    for (let turn = 0; turn < 6; turn++) await agent.say(`${turn} ${LONG}`)
    const reads = agent.traces.filter(({ name }) => name === 'cache-read')
    expect(reads.slice(1).map(({ readTokens }) => readTokens)).toEqual(
      reads.slice(1).map(({ expectedTokens }) => expectedTokens),
    )
    expect(reads.every(({ reason }) => reason === undefined)).toBe(true)
    expect(reads.slice(1).every(({ readTokens }) => Number(readTokens) > 0)).toBe(true)
  })

  test('an expiry: of the messages after five minutes, of everything after an hour', async () => {
    const agent = watchedAgent()
    await agent.say(LONG)
    for (const minutes of [6, 61]) {
      agent.wait(minutes * MINUTE_MS)
      expect(breaksIn((await agent.say(`after ${minutes}`)).events)).toEqual([])
    }
    const reads = agent.traces.filter(({ name }) => name === 'cache-read')
    expect(reads.map(({ reason }) => reason)).toEqual([undefined, 'expired', 'expired'])
  })

  test('a compaction, and its undo', async () => {
    const agent = watchedAgent()
    await agent.say(LONG)
    await agent.say('go on')
    await compact(agent)
    const after = await agent.say('where were we?')
    const boundary = agent.entries.find(({ kind }) => kind === 'boundary')?.id ?? ''
    await agent.add({ kind: 'void', target: boundary })
    const undone = await agent.say('undone')
    expect([...breaksIn(after.events), ...breaksIn(undone.events)]).toEqual([])
    expect(
      agent.traces.flatMap(({ name, reason }) => (name === 'cache-read' && reason ? [reason] : [])),
    ).toEqual(['boundary', 'void'])
  })

  test('clearing, warm and cold, in a small window: its tokens and its rewrite are billed as expected', async () => {
    const agent = clearingAgent()
    for (let turn = 0; turn < TURNS; turn++) {
      if (turn === 5) agent.wait(10 * MINUTE_MS)
      await agent.say(`turn ${turn}: ${LONG.slice(0, 2000)}`)
    }
    const edits = agent.entries.filter(({ kind }) => kind === 'edit')
    expect(edits.length).toBeGreaterThan(1)
    expect(agent.traces.filter(({ name }) => name === 'cache-break')).toEqual([])
    const effects = cacheHistory(agent.entries, LIFETIMES).events.flatMap(({ effect }) =>
      effect ? [effect] : [],
    )
    expect(effects.flatMap(({ ids }) => ids)).toEqual(edits.map(({ id }) => id))
    expect(new Set(effects.map(({ wasCold }) => wasCold))).toEqual(new Set([false, true]))
    for (const {
      freedTokens,
      expectedRewriteTokens,
      realisedRewriteTokens,
      expectedUsd,
      realisedUsd,
      wasCold,
    } of effects) {
      expect(freedTokens).toBeGreaterThan(1000)
      expect(Math.abs(expectedRewriteTokens - realisedRewriteTokens)).toBeLessThan(
        0.15 * expectedRewriteTokens + 500,
      )
      expect(realisedUsd > 0).toBe(!wasCold && realisedRewriteTokens > 0)
      expect(expectedUsd > 0).toBe(!wasCold && expectedRewriteTokens > 0)
    }
  })
})

test('consecutive compactions by the engine are no breaks', async () => {
  const agent = clearingAgent({
    setup: {
      ...windowSetup('claude-opus-5-5', 30_000),
      compaction: { host: NO_HOST, isOn: true, scale: 30_000 / 200_000 },
    },
  })
  for (let turn = 0; turn < TURNS; turn++) await agent.say(`turn ${turn}: ${LONG.slice(0, 4000)}`)
  const boundaries = agent.entries.filter(({ kind }) => kind === 'boundary')
  expect(boundaries.length).toBeGreaterThan(2)
  const { events } = cacheHistory(agent.entries, LIFETIMES)
  expect(events.filter(({ fall }) => fall === 'boundary')).toHaveLength(boundaries.length)
  expect(events.flatMap(({ break: broken }) => broken ?? [])).toEqual([])
  expect(agent.traces.filter(({ name }) => name === 'cache-break')).toEqual([])
})

test('the transcript alone shows the same breaks and falls, and what to expect next', async () => {
  const agent = watchedAgent()
  await agent.say(LONG)
  await agent.add(changed(agent, { tools: prefixOf(agent).tools.replaceAll('Says back', 'Repeats') }))
  await agent.say('go on')
  agent.wait(6 * MINUTE_MS)
  await agent.say('and on')
  const { events } = cacheHistory(agent.entries, LIFETIMES)
  const told = agent.traces.filter(({ name }) => name === 'cache-break' || name === 'cache-read')
  expect(events.map(({ expectedTokens, readTokens }) => [expectedTokens, readTokens])).toEqual(
    told.map(({ expectedTokens, readTokens }) => [expectedTokens, readTokens]),
  )
  expect(events.map(({ break: broken, fall }) => broken?.cause ?? fall)).toEqual([
    undefined,
    'tools',
    'expired',
  ])
})

function watchedAgent(options: TestAgentOptions = {}): TestAgent {
  return createTestAgent({
    tools,
    simulator: { script: [{ content: [text], times: 100 }] },
    ...options,
    setup: { cacheWatch: createCacheWatch(), ...options.setup },
  })
}

test.each([
  ['5m', 'the system prompt'],
  ['1h', 'all that the last edit left'],
] as const)('an anchor bought for %s: after ten minutes %s is read', async (anchor, _what) => {
  const agent = clearingAgent({
    flags: createFlags([{ name: 'no cold', find: (key) => (key === 'micro-cold' ? false : undefined) }]),
    setup: { lifetimes: { ...LIFETIMES, anchor } },
  })
  for (let turn = 0; turn < TURNS; turn++) await agent.say(`turn ${turn}: ${LONG.slice(0, 2000)}`)
  agent.wait(10 * MINUTE_MS)
  await agent.say('after a pause')
  const requests = agent.simulator.requests()
  expect(new Set(requests.map(({ status }) => status))).toEqual(new Set([200]))
  const system = requests[0]?.usage?.cache_creation?.ephemeral_1h_input_tokens ?? 0
  const read = requests.at(-1)?.usage?.cache_read_input_tokens ?? 0
  expect(read > system).toBe(anchor === '1h')
  expect(read).toBeGreaterThanOrEqual(system)
  expect(agent.traces.filter(({ name }) => name === 'cache-break')).toEqual([])
})

/** Reads four files a turn, in a window that they fill every few turns. */
function clearingAgent(options: TestAgentOptions = {}): TestAgent {
  const read: LoopTool = {
    ...echoTool,
    name: 'Read',
    run: async (input) => ({ content: `${textIn(input)} is a line of the file\n`.repeat(50) }),
  }
  const rounds = Array.from({ length: TURNS }, (_, turn) => [
    {
      content: Array.from({ length: 4 }, (_call, i) => ({
        type: 'tool_use',
        name: 'Read',
        input: { text: `src/part-${turn}/file-${i}.ts` },
      })),
    },
    { content: [text] },
  ])
  return createTestAgent({
    tools: [read],
    // As the command asks this model: it would be asked for a summary before anything is cleared to spare one.
    prefix: { betas: ['extended-cache-ttl-2025-04-11', COMPACTION_BETA] },
    simulator: {
      script: [...rounds.flat(), { content: [text] }].map((step) => ({ ...step, when: { source: 'main' } })),
    },
    ...options,
    setup: { ...windowSetup('claude-opus-5-5', 60_000), cacheWatch: createCacheWatch(), ...options.setup },
  })
}

async function compact(agent: TestAgent): Promise<void> {
  const summary = `entry-${agent.entries.length}`
  await agent.add(
    {
      kind: 'boundary',
      summary: [summary],
      keeps: 'tail',
      attachments: [],
      logicalParent: agent.session.view.leaf,
      meta: { trigger: 'manual', preTokens: 9_000, postTokens: 100 },
    },
    messageBody({ role: 'user', content: 'What came before, in short.' }, 'engine', { part: 'summary' }),
  )
}

function prefixOf({ session }: TestAgent): PrefixEntry {
  const { prefix } = session.view
  if (!prefix) throw new Error('there is no prefix')
  return prefix
}

function changed(agent: TestAgent, change: Partial<PrefixEntry>): Omit<PrefixEntry, 'id' | 'parent' | 'at'> {
  const { id: _id, parent: _parent, at: _at, ...prefix } = prefixOf(agent)
  return { ...prefix, ...change, reason: 'test' }
}

function replaceLast(where: string, what: string, by: string): string {
  const at = where.lastIndexOf(what)
  return `${where.slice(0, at)}${by}${where.slice(at + what.length)}`
}

function withoutLastTool(listed: string): string {
  const kept: unknown[] = JSON.parse(listed)
  return JSON.stringify(kept.slice(0, -1))
}

function breaksIn(events: readonly LoopEvent[]): readonly CacheBreak[] {
  return events.flatMap((event) => (event.type === 'cache-break' ? [event.break] : []))
}
