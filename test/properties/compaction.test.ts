import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import { REFILLS_MAX } from '../../packages/palimpsest/src/layers/4-compaction/when/decide.ts'
import { sizeOf } from '../../packages/palimpsest/src/situation/size-of.ts'
import { recordOf } from '../../packages/palimpsest/src/situation/compaction-record.ts'
import { loadTranscript } from '../../packages/palimpsest/src/node/transcripts/load-transcript.ts'
import type { CompactionHost } from '../../packages/palimpsest/src/ports.ts'
import { STRICT_SWITCHES } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { SOURCE_HEADER } from '../../packages/palimpsest/src/lab/simulator/headers.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import { partsOf, type BoundaryEntry, type Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { viewOf, type View } from '../../packages/palimpsest/src/transcript/view.ts'
import { createTestAgent, MODEL, type TestAgent } from '../kit/agent.ts'
import { cases } from '../kit/cases.ts'
import { writeSession } from '../kit/stored-session.ts'
import { tempProject } from '../kit/temp-home.ts'
import { windowSetup } from '../kit/window-setup.ts'

// Conversations of any shape in a small window, with summarisers that work or fail in every way, compactions asked for and taken back,
// sessions loaded again and turns cancelled. The provider refuses whatever is not valid.

const WINDOW = 24_000
const SETUP = windowSetup(MODEL, WINDOW)
const RUNS = cases(5, 1_000)
const TIMEOUT_MS = 20_000 + RUNS.numRuns * 4_000

type Steps = NonNullable<SimulatorOptions['script']>
type Step = Steps[number]

/** What a summariser may do. */
const SUMMARIES = {
  good: [{ type: 'text', text: '<summary>1. Primary request: things were asked for.</summary>' }],
  empty: [{ type: 'text', text: ' ' }],
  untagged: [{ type: 'text', text: 'Some things were done.' }],
  calling: [{ type: 'tool_use', name: 'Echo', input: { text: 'x' } }],
  endless: [{ type: 'text', text: `<summary>${'word '.repeat(12_000)}</summary>` }],
} as const
type SummaryKind = keyof typeof SUMMARIES

type Operation =
  | { readonly do: 'say'; readonly rounds: readonly number[]; readonly longWords: boolean }
  | { readonly do: 'compact' | 'undo' | 'reload' }

const arbitrarySay = fc.record({
  do: fc.constant('say' as const),
  /** Lines of each result. */
  rounds: fc.array(fc.integer({ min: 1, max: 240 }), { minLength: 2, maxLength: 8 }),
  longWords: fc.boolean(),
})
const arbitraryOperation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 5, arbitrary: arbitrarySay },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('compact', 'undo', 'reload') }) },
)
const arbitrarySession = fc.record({
  operations: fc.array(arbitraryOperation, { minLength: 4, maxLength: 10 }),
  summaries: fc.array(fc.constantFrom<SummaryKind>('good', 'empty', 'untagged', 'calling', 'endless'), {
    minLength: 1,
    maxLength: 6,
  }),
})

interface Watch {
  readonly host?: CompactionHost
  readonly onEvent?: (type: string) => void
  /** Told when a request goes out, and when its answer begins. */
  readonly onRequest?: (source: string | null, at: 'sent' | 'begun') => void
}

function agentOf(script: Steps, { host = NO_HOST, onEvent, onRequest }: Watch = {}): TestAgent {
  const agent: TestAgent = createTestAgent({
    simulator: { script, switches: STRICT_SWITCHES },
    setup: {
      ...SETUP,
      maxTokens: WINDOW,
      roundsMax: 100,
      compaction: { host, isOn: true, scale: WINDOW / 200_000 },
    },
    ...(onEvent && { onEvent: ({ type }) => onEvent(type) }),
    fetch: async (input, init) => {
      const request = new Request(input, init)
      const source = request.headers.get(SOURCE_HEADER)
      onRequest?.(source, 'sent')
      request.signal.throwIfAborted()
      const response = await agent.simulator.fetch(request)
      onRequest?.(source, 'begun')
      return response
    },
  })
  return agent
}

function summariser(kind: SummaryKind, times = 1): Step {
  return { when: { source: 'compact' }, content: SUMMARIES[kind], times }
}

function roundStep(name: string, lines: number): Step {
  const text = Array.from({ length: lines }, (_, i) => `row ${i} of ${name}`).join('\n')
  return { when: { source: 'main' }, content: [{ type: 'tool_use', name: 'Echo', input: { text } }] }
}

const DONE: Step = { when: { source: 'main' }, content: [{ type: 'text', text: 'Done.' }] }

/** By which a message is known, and what makes it long. */
function wordsOf(turn: number, isLong: boolean): string {
  const words = `Wish ${turn}: please look at part ${turn * 7} of the work.`
  return isLong
    ? `${words}\n${`and at its line, whatever it says; `.repeat(90)}\nThat was wish ${turn}.`
    : words
}

interface Played {
  readonly agent: TestAgent
  readonly said: readonly string[]
}

/** Plays a session, until the window was full again right after compactions so often that it stops. `afterEach` looks at it after each step. */
async function playSession(
  {
    operations,
    summaries,
  }: { readonly operations: readonly Operation[]; readonly summaries: readonly SummaryKind[] },
  afterEach: (played: Played) => void,
): Promise<Played> {
  const agent = agentOf([...summaries.map((kind) => summariser(kind)), summariser('good', 999)])
  const said: string[] = []
  for (const [turn, operation] of operations.entries()) {
    if (operation.do === 'say') {
      const words = wordsOf(turn, operation.longWords)
      agent.simulator.addSteps([
        ...operation.rounds.map((lines, i) => roundStep(`${turn}.${i}`, lines)),
        DONE,
      ])
      said.push(words)
      const { end } = await agent.say(words)
      afterEach({ agent, said })
      if (end.reason === 'window-full') {
        expect(recordOf(agent.session.view.boundary?.entry)?.refills).toBeGreaterThanOrEqual(REFILLS_MAX)
        break
      }
      expect(end).toEqual({ reason: 'answered' })
    } else if (operation.do === 'compact') await expectSettled(agent)
    else if (operation.do === 'undo') await undo(agent)
    else await reload(agent)
    if (operation.do !== 'say') afterEach({ agent, said })
  }
  return { agent, said }
}

/** (C1) Right behind a compaction there is nothing to compact. */
async function expectSettled(agent: TestAgent): Promise<void> {
  const { kind } = await agent.compact()
  const count = agent.entries.length
  const again = await agent.compact()
  if (kind === 'compacted') expect(again.kind).toBe('refused')
  if (again.kind === 'refused') expect(agent.entries).toHaveLength(count)
}

/** The newest compaction in force, where the old conversation would fit. */
async function undo(agent: TestAgent): Promise<void> {
  const { boundary } = agent.session.view
  if (!boundary || agent.session.view.from === boundary.entry.id) return
  if (boundary.entry.meta.preTokens >= SETUP.thresholds.blocking) return
  await agent.add({ kind: 'void', target: boundary.entry.id })
}

async function reload(agent: TestAgent): Promise<void> {
  const loaded = await loadTranscript(await writeSession(await tempProject(), agent.entries))
  const view = viewOf(loaded.entries, loaded.from)
  expect(jsonOf(view)).toEqual(jsonOf(agent.session.view))
  agent.session = { ...agent.session, view }
}

function jsonOf({ nodes }: View): string[][] {
  return nodes.map(({ blocks }) => blocks.map(({ json }) => json))
}

function boundariesIn(entries: readonly Entry[]): BoundaryEntry[] {
  return entries.filter((entry) => entry.kind === 'boundary')
}

function shown(view: View): string {
  const texts = jsonOf(view).flat().join('\n')
  return texts.replaceAll('\\n', ' ').replaceAll(/\s+/g, ' ')
}

/** Whatever is drawn: windows that fill again and again, with a summariser that never works and with one that does. */
const FULL: Operation = {
  do: 'say',
  rounds: process.env['SOAK'] ? Array<number>(8).fill(240) : Array<number>(4).fill(480),
  longWords: true,
}
const EXAMPLES: [{ operations: Operation[]; summaries: SummaryKind[] }][] = [
  [{ operations: [FULL, FULL, { do: 'undo' }, FULL], summaries: Array<SummaryKind>(20).fill('empty') }],
  [{ operations: [FULL, { do: 'compact' }, { do: 'reload' }, FULL], summaries: ['good'] }],
]

test(
  "(C1) compacting again right after a compaction does nothing, (C2) an automatic one leaves the next request smaller, (C3) the user's words survive every compaction, and (C4) every compaction ends: turns are answered whatever the summariser does, or stop if the window keeps refilling at once",
  async () => {
    let compactions = 0
    const paths = new Set<string | undefined>()
    await fc.assert(
      fc.asyncProperty(arbitrarySession, async (session) => {
        const { agent } = await playSession(session, expectWordsKept)
        expect(agent.simulator.stats().refused).toEqual({})
        const boundaries = boundariesIn(agent.entries)
        for (const boundary of boundaries) expectSmaller(boundary, agent.entries)
        compactions += boundaries.length
        for (const { meta } of boundaries) paths.add(meta.path)
      }),
      { ...RUNS, examples: EXAMPLES },
    )
    // The generator must fill windows, and every step must have served.
    expect(compactions).toBeGreaterThanOrEqual(RUNS.numRuns / 2)
    expect(paths).toContain('fork')
    expect(paths).toContain('fold')
  },
  TIMEOUT_MS,
)

function expectWordsKept({ agent, said }: Played): void {
  const text = shown(agent.session.view)
  const named = Number(/(\d+) messages of the user/.exec(text)?.[1] ?? 0)
  const missing = said.filter((words) => !text.includes(words.slice(0, 30)))
  expect(missing.length).toBeLessThanOrEqual(named)
}

function expectSmaller(boundary: BoundaryEntry, entries: readonly Entry[]): void {
  if (recordOf(boundary)?.cause === 'asked') return
  const at = entries.indexOf(boundary)
  const last = entries.findIndex(({ id }) => id === partsOf(boundary).at(-1))
  const before = sizeOf(viewOf(entries.slice(0, at)), SETUP)
  const after = sizeOf(viewOf(entries.slice(0, last + 1)), SETUP)
  expect(after).toBeLessThan(before)
}

describe('cancelled', () => {
  const POINTS = [
    'compaction-start',
    'host before',
    'first request sent',
    'first request begun',
    'second request sent',
    'second request begun',
    'host restore',
    'engine',
    'compaction-end',
    'host after',
  ] as const

  test.each(POINTS)(
    'at %s, a compaction leaves the old conversation or the new one, complete, and is not a failure',
    async (point) => {
      const controller = new AbortController()
      let isOn = false
      const reach = (at: string): void => {
        if (isOn && at === point) controller.abort(new Error('cancelled'))
      }
      const host: CompactionHost = {
        before: async () => {
          reach('host before')
          return {}
        },
        restore: async () => {
          reach('host restore')
          return []
        },
        after: async () => reach('host after'),
      }
      let asked = 0
      const agent = agentOf([], {
        host,
        onEvent: (type) => {
          if (type === 'compaction-start') isOn = true
          reach(type)
        },
        onRequest: (source, at) => {
          if (source !== 'compact') return
          if (at === 'sent') asked++
          reach(`${asked === 1 ? 'first' : 'second'} request ${at}`)
        },
      })
      agent.simulator.addSteps([
        summariser(point.startsWith('second') ? 'empty' : 'good'),
        summariser('good', 9),
        ...Array.from({ length: 7 }, (_, i) => roundStep(`r ${i}`, 340)),
        DONE,
      ])
      const { end } = await agent.say('Look at it all.', controller.signal)
      expect(end).toEqual({ reason: 'aborted' })
      const [boundary] = boundariesIn(agent.entries)
      const ids = new Set(agent.entries.map(({ id }) => id))
      if (boundary) expect(partsOf(boundary).every((id) => ids.has(id))).toBe(true)
      const loaded = await loadTranscript(await writeSession(await tempProject(), agent.entries))
      expect(jsonOf(viewOf(loaded.entries, loaded.from))).toEqual(jsonOf(agent.session.view))
      expect(agent.session.view.open.size).toBe(0)
      isOn = false
      expect((await agent.say('Go on.')).end).toEqual({ reason: 'answered' })
      expect(agent.simulator.stats().refused).toEqual({})
      expect(boundariesIn(agent.entries).map((one) => recordOf(one)?.failures)).not.toContain(1)
    },
  )
})
