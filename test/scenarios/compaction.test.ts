import { describe, expect, test } from 'vitest'
import { cacheHistory } from '../../packages/palimpsest/src/accounts/cache-history.ts'
import { TEMPLATE as NOTES_TEMPLATE } from '../../packages/palimpsest/src/layers/3-session-memory/template.ts'
import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import { FAILURES_MAX } from '../../packages/palimpsest/src/background/breaker.ts'
import { recordOf } from '../../packages/palimpsest/src/situation/compaction-record.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import { OVERFLOW_FORMATS } from '../../packages/palimpsest/src/lab/simulator/overflow-formats.ts'
import type { BoundaryEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import type { ToolContext } from '../../packages/palimpsest/src/loop/tool.ts'
import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { cases } from '../kit/cases.ts'
import { createTestAgent, echoTool, type TestAgent, type TestAgentOptions } from '../kit/agent.ts'

// Windows that fill, on the simulator: every step of the chain is made to fail in turn, and the session lives on.

const THRESHOLDS = { warning: 20_000, error: 22_000, auto: 24_000, blocking: 28_000 }
/** Of a result; in CI twice as much where nothing but a full window is asked for, which then fills in half of the rounds. */
const LINES = 120
const [FULL, FULL_LINES] = process.env['SOAK'] ? [8, LINES] : [4, 2 * LINES]
const SUMMARY = '<analysis>scratch</analysis><summary>1. Primary request: echo things.</summary>'
/** Only requests for a summary hold this. */
const PROMPT_MARK = '<analysis>'

type Steps = NonNullable<SimulatorOptions['script']>
type Faults = NonNullable<SimulatorOptions['faults']>

function rounds(count: number, lines = LINES): Steps {
  const text = Array.from({ length: lines }, (_, i) => `line ${i} of a result that takes some room`).join(
    '\n',
  )
  return Array.from({ length: count }, (_, i) => ({
    content: [{ type: 'tool_use' as const, name: 'Echo', input: { text: `${i}\n${text}` } }],
    stop_reason: 'tool_use' as const,
  }))
}

const summariser = (content: Steps[number]['content'], times = 99): Steps[number] => ({
  when: { bodyContains: PROMPT_MARK },
  content,
  times,
})
/** After twelve calls none is left: what comes then costs none, however often. */
const CROSSINGS = cases(8, 50).numRuns
const ROUNDS_A_CROSSING = 6

const DONE: Steps[number] = { content: [{ type: 'text', text: 'Done.' }] }
const GOOD = summariser([{ type: 'text', text: SUMMARY }])

function smallAgent(script: Steps, faults: Faults = [], more: TestAgentOptions = {}): TestAgent {
  return createTestAgent({
    simulator: { script, faults },
    setup: { thresholds: THRESHOLDS, compaction: { host: NO_HOST, isOn: true, scale: 0.15 } },
    ...more,
  })
}

function boundaries({ entries }: TestAgent): BoundaryEntry[] {
  return entries.filter((entry) => entry.kind === 'boundary')
}

function pathsOf(agent: TestAgent): (string | undefined)[] {
  return boundaries(agent).map(({ meta }) => meta.path)
}

function outcomesOf(agent: TestAgent): readonly string[] {
  return boundaries(agent).flatMap((boundary) => recordOf(boundary)?.outcomes ?? [])
}

/** Requests for a summary that reached the simulator. */
function asked({ simulator }: TestAgent): number {
  return simulator.requests().filter(({ body }) => JSON.stringify(body).includes(PROMPT_MARK)).length
}

test('a full window is compacted by a fork that reads what the conversation wrote, and the turn continues', async () => {
  const agent = smallAgent([GOOD, ...rounds(FULL, FULL_LINES), DONE])
  const said = await agent.say('Echo things. Never touch the file secret.txt.')
  expect(said.end).toEqual({ reason: 'answered' })
  expect(pathsOf(agent)).toEqual(['fork'])
  const [boundary] = boundaries(agent)
  expect(boundary?.meta.postTokens).toBeLessThan(0.6 * THRESHOLDS.auto)
  const fork = agent.traces.find(({ name }) => name === 'fork')
  // All but the request for the summary itself.
  expect(Number(fork?.['readTokens'])).toBeGreaterThan(Number(fork?.['inputTokens']) - 1_000)
  const view = JSON.stringify(agent.session.view.nodes.map(({ blocks }) => blocks.map(({ json }) => json)))
  expect(view).toContain('Never touch the file secret.txt.')
  expect(said.events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['compaction-start', 'compaction-end']),
  )
  expect(agent.entries.filter(({ kind }) => kind === 'spent')).toHaveLength(1)
})

test('a host that fails at every step loses only what it would have added', async () => {
  const broken = async (): Promise<never> => await Promise.reject(new Error('the disk is gone'))
  const host = { before: broken, restore: broken, after: broken }
  const compaction = { host, isOn: true, scale: 0.15 }
  const agent = smallAgent([GOOD, ...rounds(FULL, FULL_LINES), DONE], [], {
    setup: { thresholds: THRESHOLDS, compaction },
  })
  expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
  expect(pathsOf(agent)).toEqual(['fork'])
  const failed = agent.traces.filter(({ name }) => name === 'host-failed')
  expect(failed.map(({ step }) => step)).toEqual(['before', 'restore', 'after'])
})

describe('each step of the chain, made to fail', () => {
  const call = { type: 'tool_use' as const, name: 'Echo', input: { text: 'x' } }
  test.each([
    ['a fork that calls a tool', summariser([call], 1), ['fork: no_summary']],
    ['a fork that says nothing', summariser([{ type: 'text', text: ' ' }], 1), ['fork: no_summary']],
    [
      'a fork that is cut off',
      { ...summariser([{ type: 'text', text: SUMMARY }], 1), stop_reason: 'max_tokens' as const },
      ['fork: no_summary'],
    ],
  ])('%s is replaced by the plain request', async (_name, first, outcomes) => {
    const agent = smallAgent([first, GOOD, ...rounds(FULL, FULL_LINES), DONE])
    expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
    expect(pathsOf(agent)).toEqual(['plain'])
    expect(outcomesOf(agent)).toEqual(outcomes)
  })

  test('without its cache the fork is not tried at all', async () => {
    const slow = {
      ...echoTool,
      run: async (input: JsonObject, context: ToolContext) => {
        agent.wait(6 * 60_000)
        return await echoTool.run(input, context)
      },
    }
    const agent: TestAgent = smallAgent([GOOD, ...rounds(FULL, FULL_LINES), DONE], [], { tools: [slow] })
    expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
    expect(pathsOf(agent)).toEqual(['plain'])
  })

  // How each is understood is in `tokens/overflow.test.ts`: some are played here, all in a soak.
  const played = OVERFLOW_FORMATS.filter((_, i) => i % cases(12, 1).numRuns === 0)
  test.each(played.map(({ name }) => name))(
    'too long, in the wording of %s: rounds are dropped, and the request is sent again',
    async (format) => {
      const fault = { type: 'prompt_too_long' as const, format }
      const agent = smallAgent(
        [GOOD, ...rounds(8), DONE],
        [{ match: { bodyContains: PROMPT_MARK }, times: 2, fault }],
      )
      expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
      expect(pathsOf(agent)).toEqual(['plain'])
      expect(outcomesOf(agent)).toEqual(['fork: prompt_too_long'])
    },
  )

  test('(C4) if every request for a summary fails, the fold is used, and no trace of the failures is in the conversation', async () => {
    const agent = smallAgent(
      [...rounds(FULL, FULL_LINES), DONE],
      [{ match: { bodyContains: PROMPT_MARK }, times: 99, fault: { type: 'status', status: 529 } }],
    )
    const said = await agent.say('Echo. Never touch secret.txt.')
    expect(said.end).toEqual({ reason: 'answered' })
    expect(pathsOf(agent)).toEqual(['fold'])
    expect(outcomesOf(agent)).toEqual(['fork: api_error', 'plain: api_error'])
    const sent = JSON.stringify(agent.simulator.requests().at(-1)?.body)
    expect(sent).not.toMatch(/\b529\b|overloaded|api_error/i)
    expect(sent).toContain('Never touch secret.txt.')
  })

  test(`${CROSSINGS} crossings with a dead summariser cost at most twelve calls; a working one closes the breaker`, async () => {
    const dead: Faults = [
      { match: { bodyContains: PROMPT_MARK }, times: 12, fault: { type: 'status', status: 529 } },
    ]
    const agent = smallAgent(
      [GOOD, ...rounds(CROSSINGS * ROUNDS_A_CROSSING + 20), DONE, ...rounds(FULL, FULL_LINES), DONE],
      dead,
      {
        setup: {
          thresholds: THRESHOLDS,
          compaction: { host: NO_HOST, isOn: true, scale: 0.15 },
          roundsMax: 650,
        },
      },
    )
    expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
    expect(boundaries(agent).length).toBeGreaterThanOrEqual(CROSSINGS)
    expect(asked(agent)).toBe(4 * FAILURES_MAX)
    expect(new Set(pathsOf(agent))).toEqual(new Set(['fold']))
    agent.wait(31 * 60_000)
    await agent.say('Again.')
    expect(pathsOf(agent).at(-1)).not.toBe('fold')
    expect(recordOf(boundaries(agent).at(-1))?.failures).toBe(0)
  }, 60_000)
})

test('a refusal because of size is not passed on: after a compaction the request is sent once more', async () => {
  const agent = smallAgent(
    [GOOD, ...rounds(6), DONE],
    [{ match: { nth: 5 }, times: 1, fault: { type: 'prompt_too_long', format: 'anthropic' } }],
  )
  const said = await agent.say('Echo.')
  expect(said.end).toEqual({ reason: 'answered' })
  expect(recordOf(boundaries(agent)[0])?.cause).toBe('overflow')
})

test('undoing a compaction shows the old conversation again, with its thinking', async () => {
  const agent = smallAgent([GOOD, ...rounds(FULL, FULL_LINES), DONE])
  await agent.say('Echo.')
  const [boundary] = boundaries(agent)
  const before = agent.session.view.nodes.length
  await agent.add({ kind: 'void', target: boundary?.id ?? '' })
  expect(agent.session.view.nodes.length).toBeGreaterThan(before)
  expect(agent.session.view.nodes[0]?.source.id).toBe('entry-0')
})

test('a session that is loaded from its boundary is not told that the cache broke', async () => {
  const agent = smallAgent([GOOD, ...rounds(FULL, FULL_LINES), DONE])
  await agent.say('Echo.')
  const [boundary] = boundaries(agent)
  const first = agent.entries.findIndex(({ id }) => id === boundary?.kept?.head)
  const loaded = [...agent.entries.slice(0, 1), ...agent.entries.slice(first)]
  const { events } = cacheHistory(loaded, { system: '1h', messages: '5m' }, boundary?.id ?? null)
  expect(events.length).toBeGreaterThan(1)
  expect(events.flatMap((event) => event.break ?? [])).toEqual([])
})

describe('notes', () => {
  const NOTES = '<notes>\n# Session title\nEchoing\n\n# Current state\nHalf of the echoes are done.\n</notes>'
  const noteTaker: Steps[number] = {
    when: { source: 'session-memory' },
    content: [{ type: 'text', text: NOTES }],
    times: 9,
  }
  const compaction = { host: NO_HOST, isOn: true, scale: 0.15, notesTemplate: NOTES_TEMPLATE }

  test('are written once past the warning, in parallel with the turn, and become the summary: no model is asked at the threshold', async () => {
    const agent = smallAgent([noteTaker, ...rounds(FULL, FULL_LINES), DONE], [], {
      notes: { scale: 0.15 },
      setup: { thresholds: THRESHOLDS, compaction },
    })
    expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
    expect(pathsOf(agent)).toEqual(['notes'])
    expect(asked(agent)).toBe(0)
    const summary = agent.session.view.nodes[0]?.blocks[0]?.json
    expect(summary).toContain('Half of the echoes are done.')
    const kinds = agent.entries.map(({ kind }) => kind)
    expect(kinds.slice(0, kinds.indexOf('boundary')).filter((kind) => kind === 'notes')).toHaveLength(1)
  })

  test('that fail three times in a row are not requested again', async () => {
    const refusing = { ...noteTaker, content: [{ type: 'text' as const, text: 'No.' }], times: 99 }
    const agent = smallAgent([refusing, GOOD, ...rounds(15), DONE], [], {
      notes: { scale: 0.15, eager: true },
      setup: { thresholds: THRESHOLDS, compaction },
    })
    await agent.say('Echo.')
    const forks = agent.traces.filter(({ name, source }) => name === 'fork' && source === 'session-memory')
    expect(forks).toHaveLength(3)
  })
})
