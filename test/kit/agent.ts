import { drive } from '../../packages/palimpsest/src/drive.ts'
import {
  appendTo,
  messageBody,
  type EntryBody,
  type Session,
} from '../../packages/palimpsest/src/situation/session.ts'
import type { CompactResult } from '../../packages/palimpsest/src/layers/4-compaction/compaction-setup.ts'
import type { CompactionSpan } from '../../packages/palimpsest/src/layers/4-compaction/keep/keep-for.ts'
import type { NotesPolicy } from '../../packages/palimpsest/src/layers/3-session-memory/notes-for.ts'
import { besideSpending, mayCallBeside } from '../../packages/palimpsest/src/background/background-bill.ts'
import { createPreparedKeeper } from '../../packages/palimpsest/src/layers/4-compaction/summary/prepared-keeper.ts'
import { createNotesKeeper } from '../../packages/palimpsest/src/layers/3-session-memory/notes-keeper.ts'
import { microPolicy } from '../../packages/palimpsest/src/layers/2-micro-compaction/policy.ts'
import { TEMPLATE as NOTES_TEMPLATE } from '../../packages/palimpsest/src/layers/3-session-memory/template.ts'
import { storagePolicy } from '../../packages/palimpsest/src/layers/1-tool-results/policy.ts'
import { modelPolicy } from '../../packages/palimpsest/src/situation/model-policy.ts'
import { BUILT_IN_FLAGS, type Flags } from '../../packages/palimpsest/src/flags/create-flags.ts'
import type { LoopEvent, TurnEnd } from '../../packages/palimpsest/src/loop/events.ts'
import { createBudget } from '../../packages/palimpsest/src/accounts/budget.ts'
import { createForkPoint } from '../../packages/palimpsest/src/loop/fork-point.ts'
import { meterModel } from '../../packages/palimpsest/src/accounts/meter-model.ts'
import { runCompaction } from '../../packages/palimpsest/src/loop/run-compaction.ts'
import {
  runTurn,
  type TurnKeepers,
  type TurnSetup,
  type TurnSpending,
} from '../../packages/palimpsest/src/loop/run-turn.ts'
import type { Situation } from '../../packages/palimpsest/src/situation/situation.ts'
import type { LoopTool } from '../../packages/palimpsest/src/loop/tool.ts'
import type { Blobs, Ports, RunFork, TraceEvent } from '../../packages/palimpsest/src/ports.ts'
import { createAnthropicModel } from '../../packages/palimpsest/src/providers/anthropic/create-model.ts'
import { createSimulator, type Simulator } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import { startCalibration } from '../../packages/palimpsest/src/tokens/calibrate.ts'
import type { Entry, PrefixEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { emptyView, step } from '../../packages/palimpsest/src/transcript/view.ts'
import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { findModelFacts, unknownClaudeFacts } from '../../packages/palimpsest/src/wire/model-facts.ts'

// The real loop, the real SDK and the simulator, in one process: nothing between them is pretended. Waiting moves a virtual clock.

export const MODEL = 'claude-opus-5-5'

export interface TestAgent {
  readonly simulator: Simulator
  readonly entries: Entry[]
  readonly traces: TraceEvent[]
  readonly waits: number[]
  /** Stored results, by tool use. */
  readonly blobs: ReadonlyMap<string, string>
  session: Session
  /** What its turns run with. */
  readonly setup: TestSetup & TurnSetup
  readonly say: (text: string, signal?: AbortSignal) => Promise<Said>
  /** Forks the last request that was answered. */
  readonly runFork: RunFork
  /** Time passes, here and for the provider. */
  readonly wait: (ms: number) => void
  /** A compaction that was asked for. The setup must have `compaction`. */
  readonly compact: (span?: CompactionSpan, signal?: AbortSignal) => Promise<CompactResult>
  /** Appends what no turn appends: undo, pins. */
  readonly add: (...bodies: readonly EntryBody[]) => Promise<void>
}

export interface Said {
  readonly events: readonly LoopEvent[]
  readonly end: TurnEnd
  /** Text of the last answer. */
  readonly text: string
}

export interface TestAgentOptions {
  readonly model?: string
  /** Part of the prefix, instead of the kit's. */
  readonly prefix?: Partial<Pick<PrefixEntry, 'betas' | 'system' | 'parameters'>>
  readonly tools?: readonly LoopTool[]
  readonly simulator?: SimulatorOptions
  readonly setup?: Partial<TestSetup>
  readonly idleMsMax?: number
  /** US dollars that all of it may cost. */
  readonly maxUsd?: number
  readonly flags?: Flags
  /** Summaries are made before they are needed, within the bill or without one. */
  readonly prepares?: 'within-bill' | 'freely'
  /** Notes are kept, by this policy. */
  readonly notes?: Partial<NotesPolicy>
  /** Instead of the kit's own, which keep everything in memory. */
  readonly blobs?: Blobs
  /** Instead of the simulator's. */
  readonly fetch?: typeof fetch
  /** Called after each event: aborts, kills and checks go here. */
  readonly onEvent?: (event: LoopEvent) => void
}

export function createTestAgent(options: TestAgentOptions = {}): TestAgent {
  const model = options.model ?? MODEL
  const tools = options.tools ?? [echoTool]
  const simulator = createSimulator({ clock: 'virtual', ...options.simulator })
  const entries: Entry[] = []
  const traces: TraceEvent[] = []
  const waits: number[] = []
  const blobs = new Map<string, string>()
  let now = 1_800_000_000_000
  let count = 0
  const wait = (ms: number): void => {
    simulator.advance(ms)
    now += ms
  }
  const metered = meterModel(
    createAnthropicModel({
      apiKey: 'test-key',
      fetch: options.fetch ?? ((input, init) => simulator.fetch(new Request(input, init))),
      ...(options.idleMsMax === undefined ? {} : { times: { silentMsMax: options.idleMsMax } }),
    }),
  )
  const budget =
    options.maxUsd === undefined
      ? undefined
      : createBudget(metered.streamModel, { maxUsd: options.maxUsd, spentUsd: 0 })
  const ports: Ports = {
    clock: {
      now: () => now++,
      sleep: async (ms, signal) => {
        waits.push(ms)
        signal.throwIfAborted()
        wait(ms)
      },
      within: async (work) => await work,
    },
    newId: () => `entry-${count++}`,
    random: () => 0,
    streamModel: (budget ?? metered).streamModel,
    transcript: { append: async (added) => void entries.push(...added) },
    blobs: options.blobs ?? {
      save: async (toolUseId, stored) => {
        blobs.set(toolUseId, stored)
        return { path: `${toolUseId}.txt`, bytes: stored.length }
      },
      locate: ({ path }) => `/blobs/${path}`,
    },
    flags: options.flags ?? BUILT_IN_FLAGS,
    trace: (event) => void traces.push(event),
  }
  const prefix: Entry = {
    kind: 'prefix',
    id: 'prefix',
    parent: null,
    at: now,
    model,
    betas: ['extended-cache-ttl-2025-04-11'],
    system: JSON.stringify([{ type: 'text', text: 'You are a test agent. '.repeat(200) }]),
    tools: JSON.stringify(
      tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    ),
    parameters: { thinking: '{"type":"adaptive"}' },
    reason: 'start',
    ...options.prefix,
  }
  entries.push(prefix)
  const forkPoint = createForkPoint({ ports })
  const given: TestSetup = {
    ports,
    metered,
    forkPoint,
    tools,
    permit: async () => ({ allow: true }),
    source: 'main',
    maxTokens: 4_000,
    lifetimes: { system: '1h', messages: '5m' },
    thinking: modelPolicy(model, findModelFacts(model)),
    calibration: startCalibration('claude-4-7'),
    roundsMax: 50,
    maySpend: () => true,
    ...(budget && { leftUsd: budget.leftUsd }),
    facts: findModelFacts(model) ?? unknownClaudeFacts(model),
    thresholds: { warning: 830_000, error: 840_000, auto: 850_000, blocking: 900_000 },
    micro: microPolicy(1),
    storage: storagePolicy(1),
    ...options.setup,
  }
  const keeper =
    options.notes &&
    createNotesKeeper({
      ports,
      runFork: forkPoint.runFork,
      policy: { template: NOTES_TEMPLATE, eager: false, scale: 1, ...options.notes },
      maySpend: () => true,
      save: async () => undefined,
      signal: new AbortController().signal,
    })
  const prepared =
    options.prepares &&
    createPreparedKeeper({
      ports,
      runFork: forkPoint.runFork,
      maySpend: (view, sizeTokens) =>
        options.prepares === 'freely' || mayCallBeside(besideSpending(view.log), given.facts, sizeTokens),
      signal: new AbortController().signal,
    })
  const setup = turnSetup(given)
  const withNotes = turnSetup({ ...given, ...(keeper && { notes: keeper }), ...(prepared && { prepared }) })
  const agent: TestAgent = {
    simulator,
    entries,
    traces,
    waits,
    blobs,
    session: { id: 'session', view: step(emptyView(), prefix) },
    setup: withNotes,
    wait,
    runFork: forkPoint.runFork,
    compact: async (span = { kind: 'whole' }, signal = new AbortController().signal) => {
      const { compaction } = setup
      if (!compaction) throw new Error('the agent was made without compaction')
      const run = runCompaction(agent.session, { span }, { ...setup, compaction }, signal)
      const { session, result } = await drive(run)
      agent.session = session
      return result
    },
    add: async (...bodies) => {
      agent.session = (await appendTo(agent.session, bodies, ports)).session
    },
    say: async (text, signal = new AbortController().signal) => {
      const events: LoopEvent[] = []
      const turn = runTurn(
        agent.session,
        [messageBody({ role: 'user', content: text }, 'user')],
        withNotes,
        signal,
      )
      agent.session = await drive(turn, (event) => {
        events.push(event)
        options.onEvent?.(event)
      })
      return { events, end: endOf(events), text: lastText(events) }
    },
  }
  return agent
}

/** What a turn runs with, all in one, so that a test can name what it cares for. */
export type TestSetup = Omit<TurnSetup, 'situation' | 'spending' | 'keepers'> &
  Situation &
  TurnSpending &
  TurnKeepers

function turnSetup(given: TestSetup): TestSetup & TurnSetup {
  const { facts, thinking, calibration, thresholds } = given
  return {
    ...given,
    situation: { facts, thinking, calibration, thresholds },
    spending: given,
    keepers: given,
  }
}

/** Says back what it was given. */
export const echoTool: LoopTool = {
  name: 'Echo',
  description: 'Says back its text.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  isReadOnly: () => true,
  run: async (input) => ({ content: textIn(input) }),
}

function endOf(events: readonly LoopEvent[]): TurnEnd {
  const last = events.at(-1)
  if (last?.type !== 'turn-end') throw new Error('the turn did not say how it ended')
  return last.end
}

function lastText(events: readonly LoopEvent[]): string {
  const answers = events.filter(
    (event) => event.type === 'message' && event.entry.message.role === 'assistant',
  )
  const last = answers.at(-1)
  const content = last?.type === 'message' ? last.entry.message.content : []
  return (Array.isArray(content) ? content : [])
    .flatMap((block: { type: string; text?: string }) => (block.type === 'text' ? [block.text ?? ''] : []))
    .join('')
}

export function textIn(input: JsonObject): string {
  return typeof input['text'] === 'string' ? input['text'] : ''
}
