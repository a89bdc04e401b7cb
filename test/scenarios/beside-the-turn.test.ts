import { describe, expect, test } from 'vitest'
import {
  BACKGROUND_SHARE_MAX,
  billOf,
  besideSpending,
  mayCallBeside,
} from '../../packages/palimpsest/src/background/background-bill.ts'
import { drive } from '../../packages/palimpsest/src/drive.ts'
import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import { restAfter } from '../../packages/palimpsest/src/background/create-keeper.ts'
import { createFlags } from '../../packages/palimpsest/src/flags/create-flags.ts'
import { TEMPLATE as NOTES_TEMPLATE } from '../../packages/palimpsest/src/layers/3-session-memory/template.ts'
import { FAILURES_MAX } from '../../packages/palimpsest/src/background/breaker.ts'
import { recordOf } from '../../packages/palimpsest/src/situation/compaction-record.ts'
import {
  compactBeforeExpiry,
  waitForExpiryMs,
} from '../../packages/palimpsest/src/loop/compact-before-expiry.ts'
import { createConfirm } from '../../packages/palimpsest/src/loop/confirm-compaction.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import type { BoundaryEntry, Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { createTestAgent, type TestAgent, type TestAgentOptions } from '../kit/agent.ts'

// What happens beside the turn or in its pauses: prepared summaries, their bill, a question first, a compaction before the cache expires.

const THRESHOLDS = { warning: 18_000, error: 22_000, auto: 24_000, blocking: 32_000 }
const TEXT = Array.from({ length: 120 }, (_, i) => `line ${i} of a result that takes some room`).join('\n')
const compaction = { host: NO_HOST, isOn: true, scale: 0.15 }
const PROMPT_MARK = '<analysis>'

type Steps = NonNullable<SimulatorOptions['script']>

function rounds(count: number): Steps {
  return Array.from({ length: count }, (_, i) => ({
    content: [{ type: 'tool_use' as const, name: 'Echo', input: { text: `${i}\n${TEXT}` } }],
    stop_reason: 'tool_use' as const,
  }))
}

const DONE: Steps[number] = { content: [{ type: 'text', text: 'Done.' }] }
const GOOD: Steps[number] = {
  when: { bodyContains: PROMPT_MARK },
  content: [{ type: 'text', text: '<summary>They echo things.</summary>' }],
  times: 99,
}

function agentWith(script: Steps, more: TestAgentOptions = {}): TestAgent {
  return createTestAgent({ simulator: { script }, setup: { thresholds: THRESHOLDS, compaction }, ...more })
}

function boundaries({ entries }: TestAgent): BoundaryEntry[] {
  return entries.filter((entry) => entry.kind === 'boundary')
}

function asked({ simulator }: TestAgent): number[] {
  return simulator
    .requests()
    .flatMap(({ body }, i) => (JSON.stringify(body).includes(PROMPT_MARK) ? [i] : []))
}

describe('a prepared summary', () => {
  test('is written once past the warning, in parallel with the turn, and is used at the threshold, keeping what came since', async () => {
    const agent = agentWith([GOOD, ...rounds(8), DONE], { prepares: 'freely' })
    const said = await agent.say('Echo. Never touch secret.txt.')
    expect(said.end).toEqual({ reason: 'answered' })
    const [boundary] = boundaries(agent)
    expect(boundary?.meta.path).toBe('prepared')
    // The request came before the threshold was reached, and none came there.
    expect(asked(agent)).toHaveLength(1)
    const spent = agent.entries.filter((entry) => entry.kind === 'spent')
    expect(spent.map(({ source }) => source)).toEqual(['prepared'])
    const view = JSON.stringify(agent.session.view.nodes.map(({ blocks }) => blocks.map(({ json }) => json)))
    expect(view).toContain('They echo things.')
    expect(view).toContain('Never touch secret.txt.')
    const at = agent.entries.indexOf(boundary as Entry)
    const uses = agent.entries
      .slice(0, at)
      .filter((entry) => entry.kind === 'message' && entry.origin === 'model')
    const covered = uses.findIndex((entry) => entry.id === boundary?.kept?.head)
    expect(covered).toBeGreaterThan(0)
    expect(uses.length - covered).toBeGreaterThan(1)
  })

  test('that covers what was compacted in the meantime is dropped', async () => {
    const agent = agentWith([GOOD, ...rounds(17), DONE], { prepares: 'freely' })
    await agent.say('Echo.')
    const paths = boundaries(agent).map(({ meta }) => meta.path)
    expect(paths.length).toBeGreaterThan(1)
    // Each has one of its own, and one more may have been made since the last.
    expect(new Set(paths)).toEqual(new Set(['prepared']))
    expect(asked(agent).length - paths.length).toBeLessThanOrEqual(1)
    const { view } = agent.session
    const upTo = view.nodes.at(-1)?.entries[0] ?? ''
    expect(restAfter(view, { upTo, boundary: undefined })).toBeUndefined()
    const boundary = view.boundary?.entry.id
    expect(restAfter(view, { upTo, boundary })).toBe(view.nodes.length)
    expect(restAfter(view, { upTo: 'gone', boundary })).toBeUndefined()
  })

  test('that fails three times in a row is not requested again', async () => {
    const silent = { ...GOOD, content: [{ type: 'text' as const, text: ' ' }] }
    const agent = agentWith([silent, ...rounds(20), DONE], { prepares: 'freely' })
    expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
    expect(agent.traces.filter(({ name }) => name === 'prepared')).toHaveLength(3)
  })

  test('is not written if the flag is off', async () => {
    const flags = createFlags([
      { name: 'test', find: (name) => (name === 'prepared-compaction' ? false : undefined) },
    ])
    const agent = agentWith([GOOD, ...rounds(8), DONE], { prepares: 'freely', flags })
    await agent.say('Echo.')
    expect(boundaries(agent).map(({ meta }) => meta.path)).toEqual(['fork'])
  })

  test('is paid for from a tenth of the bill, beyond what every session is allowed', async () => {
    const agent = agentWith([GOOD, ...rounds(8), DONE], { prepares: 'within-bill' })
    await agent.say('Echo.')
    const bill = billOf(agent.session.view.log)
    const total = [...bill.values()].reduce((sum, usd) => sum + usd, 0)
    expect(bill.get('main')).toBeGreaterThan(0)
    expect(bill.get('prepared') ?? 0).toBeLessThanOrEqual(BACKGROUND_SHARE_MAX * total)
    const { facts } = agent.setup
    const may = (log: readonly Entry[], sizeTokens = 20_000): boolean =>
      mayCallBeside(besideSpending(log), facts, sizeTokens)
    expect([may([]), may([], 1_000_000)]).toEqual([true, false])
    const usage = { input_tokens: 1_000_000, output_tokens: 0 }
    const answer = {
      ...(agent.entries.find(({ kind }) => kind === 'message') as Entry),
      usage,
      model: facts.id,
    }
    expect(may([answer as Entry])).toBe(true)
    // What the one before it came to is what the next is expected to come to.
    const long: Entry = {
      ...{ kind: 'spent', id: 's', parent: null, at: 0, source: 'session-memory', model: facts.id },
      usage: { input_tokens: 0, output_tokens: 15_000 },
    }
    expect(may([answer as Entry, long])).toBe(false)
  })
})

test('a model that answers no background requests is left alone: three requests for notes, and none for anything once the breaker is open', async () => {
  const dead = [PROMPT_MARK, '<notes>'].map((bodyContains) => ({
    match: { bodyContains },
    times: 999,
    fault: { type: 'status', status: 529 } as const,
  }))
  const agent = createTestAgent({
    simulator: { script: [...rounds(process.env['SOAK'] ? 75 : 45), DONE], faults: dead },
    setup: {
      thresholds: THRESHOLDS,
      compaction: { ...compaction, notesTemplate: NOTES_TEMPLATE },
      roundsMax: 200,
    },
    notes: { scale: 0.15 },
    prepares: 'freely',
  })
  expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
  expect(boundaries(agent).length).toBeGreaterThan(6)
  const isFor = (mark: string): number =>
    agent.simulator.requests().filter(({ body }) => JSON.stringify(body).includes(mark)).length
  expect(isFor('<notes>')).toBe(FAILURES_MAX)
  expect(isFor(PROMPT_MARK)).toBe(4 * FAILURES_MAX)
})

describe('a compaction that asks first', () => {
  test('if declined, waits; it asks again when the conversation has grown, and does not ask at the limit', async () => {
    const sizes: number[] = []
    const confirm = createConfirm(async ({ sizeTokens }) => {
      sizes.push(sizeTokens)
      return false
    }, 0.15)
    const agent = agentWith([GOOD, ...rounds(12), DONE], {
      setup: { thresholds: THRESHOLDS, compaction: { ...compaction, confirm } },
    })
    expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
    expect(sizes[0]).toBeGreaterThanOrEqual(THRESHOLDS.auto)
    expect(sizes.length).toBeGreaterThan(1)
    for (const [i, size] of sizes.slice(1).entries()) {
      const before = sizes[i] ?? 0
      // The next question comes 1,500 tokens later, or after a compaction.
      expect(size - before >= 1_500 || size < before).toBe(true)
    }
    const [boundary] = boundaries(agent)
    expect(boundary?.meta.preTokens).toBeGreaterThanOrEqual(THRESHOLDS.blocking)
  })

  test('if confirmed, happens at once', async () => {
    const confirm = createConfirm(async () => true, 0.15)
    const agent = agentWith([GOOD, ...rounds(8), DONE], {
      setup: { thresholds: THRESHOLDS, compaction: { ...compaction, confirm } },
    })
    await agent.say('Echo.')
    expect(boundaries(agent)[0]?.meta.preTokens).toBeLessThan(THRESHOLDS.blocking)
  })
})

describe('a long idle conversation', () => {
  const on = createFlags([
    { name: 'test', find: (name) => (name === 'compact-before-expiry' ? true : undefined) },
  ])

  async function idle(agent: TestAgent, waitMs: number): Promise<void> {
    const lastRequestAt = agent.setup.ports.clock.now()
    agent.wait(waitMs)
    const moment = { lastRequestAt, lifetime: '5m' as const }
    const steps = compactBeforeExpiry(
      agent.session,
      moment,
      { ...agent.setup, compaction },
      new AbortController().signal,
    )
    agent.session = await drive(steps)
  }

  test('is compacted shortly before its cache expires, by a fork that still reads it', async () => {
    const agent = agentWith([GOOD, ...rounds(5), DONE], { flags: on })
    await agent.say('Echo.')
    await idle(agent, 4.5 * 60_000)
    expect(boundaries(agent).map((one) => [one.meta.path, recordOf(one)?.cause])).toEqual([['fork', 'idle']])
  })

  test.each([
    ['too early', on, 5, 60_000],
    ['too late', on, 5, 6 * 60_000],
    ['not long enough', on, 1, 4.5 * 60_000],
    ['switched off', createFlags([]), 5, 4.5 * 60_000],
  ] as const)('is left alone: %s', async (_name, flags, count, waitMs) => {
    const agent = agentWith([GOOD, ...rounds(count), DONE], { flags })
    await agent.say('Echo.')
    await idle(agent, waitMs)
    expect(boundaries(agent)).toEqual([])
  })

  test('is left alone after an undo', async () => {
    const agent = agentWith([GOOD, ...rounds(5), DONE], { flags: on })
    await agent.say('Echo.')
    await agent.compact()
    await agent.add({ kind: 'void', target: boundaries(agent)[0]?.id ?? '' })
    const { length } = boundaries(agent)
    await idle(agent, 4.5 * 60_000)
    expect(boundaries(agent)).toHaveLength(length)
  })

  test('computes how long to wait', () => {
    const moment = { lastRequestAt: 1_000, lifetime: '5m' as const }
    expect(waitForExpiryMs(moment, 1_000)).toBe(4 * 60_000)
    expect(waitForExpiryMs(moment, 1_000 + 4.5 * 60_000)).toBe(0)
    expect(waitForExpiryMs(moment, 1_000 + 5 * 60_000)).toBeUndefined()
  })
})
