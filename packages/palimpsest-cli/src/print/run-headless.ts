import {
  appendTo,
  cacheHistory,
  calibrationOf,
  messageBody,
  microPolicy,
  modelPolicy,
  storagePolicy,
  type CacheWatch,
  type EntryBody,
  type Session,
} from 'palimpsest/engine'
import {
  besideLimits,
  NOTES_WAIT_MS,
  runTurn,
  type LimitKeeper,
  type LoopEvent,
  type LoopTool,
  type MeteredModel,
  type Permit,
  type TurnCompaction,
  type TurnEnd,
  type TurnSetup,
} from 'palimpsest/loop'
import type { Ports } from 'palimpsest'
import type { MessageEntry, PrefixEntry, TitleEntry } from 'palimpsest/transcript'
import { toModelName } from 'palimpsest/wire'

import { sentenceOf } from './report-error.ts'
import type { Settings } from '../agent/settings/settings-shape.ts'
import { CACHE_LIFETIMES, lifetimesFor } from '../run/models/cache-lifetimes.ts'
import { createCostOf } from '../run/cost-of.ts'
import type { WindowReading } from '../run/window-settings.ts'
import { openBeside, type BesideSetup, type BesideTurn, type RunNotes } from '../run/beside-turn.ts'
import { createOffer } from '../run/compaction/offer-compaction.ts'
import { addUsage, NO_USAGE } from './run-usage.ts'
import { answerText, type Output, type RunResult } from './output.ts'
import { fitForSwitch, openForkPoint } from '../run/models/switch-model.ts'

// One prompt, one turn, to its end.

export interface HeadlessRun {
  readonly session: Session
  readonly ports: Ports
  /** What was spent on answers that nobody took whole. */
  readonly metered?: Pick<MeteredModel, 'take' | 'notices'>
  readonly tools: readonly LoopTool[]
  readonly permit: Permit
  /** As it is to be from now on; appended where it differs from what the session has. */
  readonly prefix: EntryBody<PrefixEntry>
  /** What a new conversation begins with: instruction files, environment. */
  readonly opening: readonly EntryBody<MessageEntry>[]
  /** What hooks add at the beginning of this run. */
  readonly hookTexts?: readonly EntryBody<MessageEntry>[]
  /** Absent: nothing compacts. */
  readonly compaction?: TurnCompaction
  /** Absent: no notes are kept. */
  readonly notes?: RunNotes
  readonly prompt: string
  readonly reading: WindowReading
  /** Of any model at the same endpoint: for sessions that another one led. */
  readonly readingOf?: (model: string) => WindowReading
  readonly limits?: LimitKeeper
  /** What the user says about the cache, and about clearing after a pause. */
  readonly settings?: Pick<Settings, 'cache' | 'clearing'>
  readonly maxTokens: number
  readonly roundsMax: number
  /** By the whole session so far. */
  readonly spent: () => { readonly totalUsd: number; readonly besideUsd: number }
  readonly maxCostUsd?: number
  /** Of that, what nothing was spent on yet. */
  readonly leftUsd?: () => number
}

export async function runHeadless(run: HeadlessRun, output: Output, signal: AbortSignal): Promise<RunResult> {
  const tally = createTally(run.ports.clock.now)
  const { id, view: begin } = run.session
  const how = `To compact it, run \`palimpsest compact --session ${id}\`, then resume the session.`
  const offered = createOffer({ how, isAllowed: run.reading.compactEnabled, view: begin })
  const told = (given: LoopEvent): void => {
    const event = offered(given)
    tally.take(event)
    output.event(event)
  }
  let beside: BesideTurn | undefined
  let last: Session
  output.begin()
  try {
    const { session, opening } = await heard(beginConversation(run, signal), told)
    const input = [...opening, messageBody({ role: 'user', content: run.prompt }, 'user')]
    const maySpend = (): boolean => run.maxCostUsd === undefined || run.spent().totalUsd < run.maxCostUsd
    beside = besideOf(run, session, { maySpend, endsWithTurn: true, signal })
    const setup = turnSetup(run, session, { maySpend, beside })
    const { view } = session
    beside.makeUp(view, besideLimits(view, setup))
    last = await heard(runTurn(session, input, setup, signal), told)
    if (output.tellsCost) last = await heard(beside.settle(last, COST_WAIT_MS), told)
  } catch (error) {
    beside?.giveUp()
    output.breakOff(tally.result(), sentenceOf(error))
    throw error
  }
  const result = tally.result()
  output.end(result)
  // The answer is told: nobody waits for more than the end of the process.
  await heard(beside.end(last, NOTES_WAIT_MS - (output.tellsCost ? COST_WAIT_MS : 0)), () => undefined)
  return result
}

/** What is about to be known of the cost is waited for where it is told. */
const COST_WAIT_MS = 1_000

async function heard<T>(events: AsyncGenerator<LoopEvent, T>, told: (event: LoopEvent) => void): Promise<T> {
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value
    told(next.value)
  }
}

/** The session fits the model and its prefix stands; what the first message of this run comes behind is told. */
export async function* beginConversation(
  run: HeadlessRun,
  signal: AbortSignal,
): AsyncGenerator<
  LoopEvent,
  { readonly session: Session; readonly opening: readonly EntryBody<MessageEntry>[] }
> {
  const opening = [...openingOf(run), ...(run.hookTexts ?? [])]
  const fitted = yield* fitForSwitch(run, signal)
  return { session: await withPrefix({ ...run, session: fitted }), opening }
}

/** Sums up a turn as it goes. */
function createTally(now: () => number): {
  readonly take: (event: LoopEvent) => void
  readonly result: () => RunResult
} {
  const startedAt = now()
  const costOf = createCostOf()
  let [usage, costUsd, estimatedUsd, turns, text, goesOn] = [NO_USAGE, 0, 0, 0, '', false]
  const compactions = new Map<string, number>()
  let end: TurnEnd = { reason: 'aborted' }
  return {
    take: (event) => {
      if (event.type === 'turn-end') end = event.end
      // Summaries are on the bill too, and answers that were broken off.
      for (const entry of event.type === 'engine' ? event.entries : []) {
        const path = entry.kind === 'boundary' ? entry.meta.path : undefined
        if (path !== undefined) compactions.set(path, (compactions.get(path) ?? 0) + 1)
        if (entry.kind !== 'spent') continue
        const usd = costOf(entry)
        usage = addUsage(usage, entry)
        costUsd += usd
        if (entry.estimated) estimatedUsd += usd
      }
      if (event.type !== 'message' || event.entry.message.role !== 'assistant') return
      usage = addUsage(usage, event.entry)
      costUsd += costOf(event.entry)
      turns++
      text = goesOn ? text + answerText(event.entry) : answerText(event.entry)
      goesOn = isUnfinished(event.entry)
    },
    result: () => {
      const sums = { usage, costUsd, estimatedUsd, compactions: Object.fromEntries(compactions) }
      return { end, turns, durationMs: now() - startedAt, ...sums, text }
    },
  }
}

/** Another agent's session tells nothing of the instructions and the place: what was never sent from here begins with them. */
function openingOf({ session, opening }: HeadlessRun): HeadlessRun['opening'] {
  const { prefix, nodes } = session.view
  return prefix === undefined || nodes.length === 0 ? opening : []
}

/** The next answer goes on where this one stopped. */
function isUnfinished({ message }: MessageEntry): boolean {
  const reason = 'stop_reason' in message ? message.stop_reason : undefined
  return reason === 'max_tokens' || reason === 'pause_turn'
}

export interface KeptSetup {
  readonly maySpend: TurnSetup['maySpend']
  readonly beside: BesideTurn
  /** One that has seen all of the session; without it the whole history is laid out again. */
  readonly watch?: CacheWatch | undefined
}

export function turnSetup(
  run: HeadlessRun,
  session: Session,
  { maySpend, beside, watch }: KeptSetup,
): TurnSetup {
  const { reading, ports, metered, tools, permit, maxTokens, roundsMax } = run
  const thinking = thinkingOf(run, session)
  const { log, from } = session.view
  return {
    ports,
    ...(metered && { metered }),
    tools,
    permit,
    source: 'main',
    maxTokens,
    lifetimes: lifetimesFor(run.settings?.cache, session.view, reading.model.facts, ports),
    thinking,
    calibration: calibrationOf(session.view, thinking, reading.model.facts),
    roundsMax,
    maySpend,
    ...(run.leftUsd ? { leftUsd: run.leftUsd } : {}),
    facts: reading.model.facts,
    thresholds: reading.thresholds,
    micro: microPolicy(reading.window.scale, run.settings?.clearing),
    storage: storagePolicy(reading.window.scale),
    ...(run.compaction ? { compaction: run.compaction } : {}),
    ...(run.limits ? { limits: run.limits } : {}),
    ...beside.keepers,
    forkPoint: beside.forkPoint,
    cacheWatch: watch ?? cacheHistory(log, CACHE_LIFETIMES, from).watch,
  }
}

/** One for a conversation. */
export function besideOf(
  run: HeadlessRun,
  session: Session,
  more: Pick<BesideSetup, 'maySpend' | 'endsWithTurn' | 'signal'>,
): BesideTurn {
  const { ports, metered, reading, maxTokens, notes, spent } = run
  const forkPoint = openForkPoint(session, { thinking: thinkingOf(run, session), maxTokens }, ports)
  return openBeside(session, forkPoint, { ports, metered, facts: reading.model.facts, notes, spent, ...more })
}

function thinkingOf({ reading, prefix }: HeadlessRun, { view }: Session): TurnSetup['thinking'] {
  return modelPolicy(view.prefix?.model ?? prefix.model, reading.model.facts)
}

/** What the list of sessions shows. */
const TITLE_CHARS = 80

function titleBody(prompt: string): EntryBody<TitleEntry> {
  const line = prompt.trim().split('\n')[0] ?? ''
  return {
    kind: 'title',
    title: line.slice(0, TITLE_CHARS),
    firstPrompt: prompt.slice(0, FIRST_PROMPT_CHARS),
  }
}

/** Enough to tell sessions apart. */
const FIRST_PROMPT_CHARS = 1_000

/** A stored session keeps its prefix, byte for byte; only what was asked for anew changes it, and says so. */
async function withPrefix(run: HeadlessRun): Promise<Session> {
  const had = run.session.view.prefix
  if (had && isSameModel(had, run.prefix) && run.prefix.reason !== 'asked') return await afterIdle(had, run)
  const kept =
    had && run.prefix.reason !== 'asked'
      ? { ...run.prefix, system: had.system, tools: had.tools, reason: 'model' }
      : run.prefix
  const title = had ? [] : [titleBody(run.prompt)]
  const { session } = await appendTo(run.session, [kept, ...title], run.ports)
  return session
}

/** With another window it is another one: the provider must be told. */
function isSameModel(had: PrefixEntry, wanted: EntryBody<PrefixEntry>): boolean {
  return toModelName(had.model, had.betas) === toModelName(wanted.model, wanted.betas)
}

/** After an hour nothing is cached, so what the provider clears of thinking may change: only its newest is kept from then on. */
async function afterIdle(had: PrefixEntry, run: HeadlessRun): Promise<Session> {
  const clears = run.prefix.parameters[CONTEXT_MANAGEMENT]
  const isIdle = clears?.includes('"thinking_turns"') ?? false
  const before = had.parameters[CONTEXT_MANAGEMENT]
  if (!isIdle || clears === undefined || before === undefined || before === clears) return run.session
  const parameters = { ...had.parameters, [CONTEXT_MANAGEMENT]: clears }
  const { id: _id, parent: _parent, at: _at, ...kept } = had
  const { session } = await appendTo(run.session, [{ ...kept, parameters, reason: 'idle' }], run.ports)
  return session
}

const CONTEXT_MANAGEMENT = 'context_management'
