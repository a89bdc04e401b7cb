import { afterTurn } from '../engine/after-turn.ts'
import { autoCompact, type AutoCompaction } from '../engine/auto-compact.ts'
import { beforeRequest, type Readiness } from '../engine/before-request.ts'
import { createCompactionNews, type CompactionNews } from '../engine/compaction-news.ts'
import type { CacheLifetimes } from '../request/build-request.ts'
import { NO_HOST } from '../layers/4-compaction/compaction-host.ts'
import type { CacheWatch } from '../accounts/cache-watch.ts'
import { learnNewest } from '../situation/calibration.ts'
import { answerBody } from './answers/answer-body.ts'
import { fitAnswer } from './answers/fit-answer.ts'
import { serverEdits } from '../situation/server-edits.ts'
import {
  appendMessage,
  appendTo,
  messageBody,
  type EntryBody,
  type NamedBody,
  type Session,
} from '../situation/session.ts'
import { ProviderError, type SpendingLimit } from '../errors.ts'
import { microPolicy, type MicroPolicy } from '../layers/2-micro-compaction/policy.ts'
import type { StoragePolicy } from '../layers/1-tool-results/policy.ts'
import type { Ports, Source } from '../ports.ts'
import type { MessageEntry } from '../transcript/entry.ts'
import type { Situation } from '../situation/situation.ts'
import { isBlock, type ToolUseBlock } from '../wire/message.ts'
import { promptTokens } from '../wire/usage.ts'
import { NOTES_WAIT_MS, type NotesKeeper } from '../background/keepers.ts'
import { admitLetters } from './admit-letters.ts'
import { createAskModel } from './ask-once.ts'
import { askOrRecover, type Recovering, type Remedies } from './ask-or-recover.ts'
import { besideLimits, isMain } from '../engine/beside-limits.ts'
import type { CollectedResponse } from './answers/collect-response.ts'
import type { LoopEvent, TurnEnd } from './events.ts'
import { keptOfCut } from './exchange.ts'
import type { ForkPoint } from './fork-point.ts'
import { withCure } from './full-window.ts'
import type { LearnedLimit, LimitKeeper } from './limit-keeper.ts'
import type { AgentsKeeper, PreparedKeeper, SpendingKeeper } from '../background/keepers.ts'
import { readCache } from './read-cache.ts'
import { runTools } from './run-tools.ts'
import { takeEngineSteps } from './take-engine-steps.ts'
import type { LoopTool, Permit } from './tool.ts'
import { withBeside, type Metered } from './with-beside.ts'

// One turn: from a user message to the answer that calls no tool. A generator of events; it knows no screen and no key.

/** How often a turn asks the model to continue after its output limit. */
export const CONTINUATIONS_MAX = 2
const GO_ON = 'Your answer reached the output limit. Go on exactly where it stopped; repeat nothing.'
const WINDOW_FULL = 'The answer stopped because the window is full.'
const CUT_SHORT = 'The answer reached the output limit again and again, and is cut short. Ask for the rest.'

export interface TurnSetup {
  readonly ports: Ports
  /** As the turn begins: the turn keeps learning about the model's tokens, and a refusal may teach a smaller window. */
  readonly situation: Situation
  readonly spending: TurnSpending
  readonly keepers: TurnKeepers
  readonly tools: readonly LoopTool[]
  readonly permit: Permit
  readonly source: Source
  readonly maxTokens: number
  readonly lifetimes: CacheLifetimes
  readonly roundsMax: number
  readonly storage: StoragePolicy
  readonly micro: MicroPolicy
  /** What compactions need besides the model. Absent: when the window is full, the oldest rounds leave the view. */
  readonly compaction?: TurnCompaction | undefined
  /** Provider and model accept edits of their cache. No public API does. */
  readonly cacheEdits?: boolean | undefined
  /** Compares what each request read from the cache with the ledger. */
  readonly cacheWatch?: CacheWatch | undefined
  /** Learns of each refusal because of size, and of each answer. */
  readonly limits?: LimitKeeper | undefined
  /** What the user can do about a full window: a sentence from the host. */
  readonly howToCompact?: string | undefined
}

/** What a turn may spend, and who counts it. */
export interface TurnSpending {
  /** Whether the session may still spend. Called before every request. */
  readonly maySpend: (session: Session) => boolean
  /** US dollars that may still be spent; no request that costs more is sent. Absent: no limit. */
  readonly leftUsd?: (() => number) | undefined
  /** Which limit is exhausted, if the host keeps several. */
  readonly limit?: (() => SpendingLimit | undefined) | undefined
  /** What was spent on answers that were not used completely. Its `streamModel` is the one of the ports. */
  readonly metered?: Metered | undefined
}

/** The helpers that work beside a turn, and where their requests begin. */
export interface TurnKeepers {
  /** Writes notes during the turn. */
  readonly notes?: NotesKeeper | undefined
  /** Prepares summaries in time, unless notes serve as the summary. */
  readonly prepared?: PreparedKeeper | undefined
  /** Saves memories after a turn has ended. */
  readonly extraction?: SpendingKeeper | undefined
  /** Agents that work for the conversation. */
  readonly agents?: AgentsKeeper | undefined
  /** Moves to each answered request. */
  readonly forkPoint?: ForkPoint | undefined
}

export type TurnCompaction = Omit<
  AutoCompaction,
  'askModel' | 'runFork' | 'settleNotes' | 'awaitsNotes' | 'findPrepared'
>

interface TurnState extends Recovering {
  situation: Situation
  /** What a refusal or an answer taught about the window. */
  learned: LearnedLimit | undefined
  continuations: number
  /** True for a turn that messages from others began: they have joined already, so the first request takes no more. */
  readonly isBegunByLetters: boolean
  /** Used if the conversation itself remembers none. */
  readonly news: CompactionNews
}

/** Runs a turn on a session. Whatever happens, the returned session is valid and on disk. */
export async function* runTurn(
  session: Session,
  input: readonly EntryBody<MessageEntry>[],
  setup: TurnSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, Session> {
  const state: TurnState = {
    session,
    situation: setup.situation,
    learned: undefined,
    continuations: 0,
    isBegunByLetters: input.length === 0,
    news: createCompactionNews(),
    cut: undefined,
    maxTokens: setup.maxTokens,
  }
  let end: TurnEnd
  try {
    for (const body of input) yield* appendShown(state, body, setup)
    end = yield* runRounds(state, setup, signal)
  } catch (error) {
    end = endOf(error, signal)
  }
  const kept = keptOfCut(state)
  for (const body of kept) yield* appendShown(state, body, setup)
  if (kept.length > 0) yield* fitNewest(state, setup)
  state.session = yield* withBeside(state.session, setup)
  if (!signal.aborted) considerNotes(state, 'turn-end', setup)
  yield* appendEngine(state, afterTurn(state.session, end), setup)
  const told = withCure(end, state.session.view, setup.howToCompact)
  yield { type: 'turn-end', end: kept.length > 0 ? { ...told, keepsAnswer: true } : told }
  return state.session
}

async function* runRounds(
  state: TurnState,
  setup: TurnSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, TurnEnd> {
  for (let round = 0; round < setup.roundsMax; round++) {
    signal.throwIfAborted()
    state.session = yield* withBeside(state.session, setup)
    const mail = setup.keepers.agents?.mail(state.session.view)
    for (const body of mail?.said ?? []) yield* appendShown(state, body, setup)
    if (mail?.letters && !(round === 0 && state.isBegunByLetters))
      yield* admitLetters(state, mail.letters, setup.ports)
    const ready = yield* prepare(state, setup, signal)
    if (ready.blocked !== undefined) return { reason: 'window-full', message: ready.blocked }
    if (!setup.spending.maySpend(state.session)) return { reason: 'max-cost' }
    const remedies = remediesOf(state, setup, signal)
    const { built, collected } = yield* askOrRecover(state, ready.tokens, { ...setup, remedies }, signal)
    setup.keepers.forkPoint?.moveTo(built, collected.startedAt)
    yield* readCache(collected, setup)
    traceTransformed(collected, setup.ports)
    yield* appendShown(state, answerBody(collected, built), setup)
    const { context_management: applied } = collected.response
    yield* appendEngine(state, serverEdits(state.session.view, applied), setup)
    yield* learnFromAnswer(state, collected, setup)
    yield* fitNewest(state, setup)
    considerNotes(state, 'response', setup)
    const end = yield* actOn(state, collected, setup, signal)
    if (end) return end
  }
  return { reason: 'max-rounds' }
}

function considerNotes(state: TurnState, at: 'response' | 'turn-end', setup: TurnSetup): void {
  const { view } = state.session
  const { notes, prepared } = setup.keepers
  const limits = besideLimits(view, { ...setup, ...policiesOf(state, setup), situation: state.situation })
  notes?.consider(view, at, limits)
  if (notes?.areKept()) return
  prepared?.consider(view, { ...limits, wishes: setup.compaction?.wishes })
}

/** What is done about refusals before one surfaces. */
function remediesOf(state: TurnState, setup: TurnSetup, signal: AbortSignal): Remedies {
  return {
    append: (bodies) => appendEngine(state, bodies, setup),
    compact: (sizeTokens) => compactNow(state, sizeTokens, setup, signal),
    learned: (learned) => learn(state, learned),
  }
}

function learn(state: TurnState, learned: LearnedLimit): void {
  state.situation = { ...state.situation, thresholds: learned.thresholds }
  state.learned = learned
}

/** A request was answered: learns from the size of the prompt and of the answer. */
async function* learnFromAnswer(
  state: TurnState,
  { response }: CollectedResponse,
  setup: TurnSetup,
): AsyncGenerator<LoopEvent> {
  const { thinking, calibration } = state.situation
  const newest = learnNewest(state.session.view, thinking, calibration)
  state.situation = { ...state.situation, calibration: newest }
  const learned = await setup.limits?.answered(promptTokens(response.usage))
  if (!learned) return
  learn(state, learned)
  yield { type: 'notice', text: learned.notice }
}

/** If the newest answer does not fit the window, only parts of it are shown. */
async function* fitNewest(state: TurnState, setup: TurnSetup): AsyncGenerator<LoopEvent> {
  yield* appendEngine(state, await fitAnswer(state.session.view, state.situation, setup.ports), setup)
}

/** After the provider reported that the window is full. */
async function* compactNow(
  state: TurnState,
  sizeTokens: number,
  setup: TurnSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent> {
  const limits = { ...limitsOf(state, setup), cause: 'overflow' as const, sizeTokens }
  yield* takeEngineSteps(state, autoCompact(state.session, limits, setup.ports, signal), setup.ports)
}

/** Appends what the engine asks for before a request, and gives it the resulting session. */
async function* prepare(
  state: TurnState,
  setup: TurnSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, Readiness> {
  const limits = {
    ...limitsOf(state, setup),
    blockingTokens: state.situation.thresholds.blocking,
    lifetime: setup.lifetimes.messages,
    isMain: isMain(setup.source),
  }
  return yield* takeEngineSteps(state, beforeRequest(state.session, limits, setup.ports, signal), setup.ports)
}

/** What the engine bases its decisions on. */
function limitsOf(state: TurnState, setup: TurnSetup) {
  const { notes, prepared, forkPoint } = setup.keepers
  const policies = policiesOf(state, setup)
  const compaction: AutoCompaction = {
    ...policies.compaction,
    askModel: createAskModel(setup.ports),
    runFork: forkPoint?.runFork,
    findPrepared: prepared?.find,
    awaitsNotes: notes?.isWorking,
    settleNotes: async (view) => {
      await notes?.settle(NOTES_WAIT_MS)
      return notes?.take(view) ?? []
    },
  }
  const { storage, tools, source, cacheEdits } = setup
  return { ...state.situation, ...policies, compaction, storage, tools, source, cacheEdits }
}

/** With what we know about the window by now. */
function policiesOf({ learned, news }: TurnState, { compaction, micro }: TurnSetup) {
  const given = compaction ?? NO_COMPACTION
  return {
    compaction: { ...given, news: given.news ?? news, ...(learned ? windowOf(learned) : {}) },
    micro: learned ? microPolicy(learned.scale, micro.clearing) : micro,
    dropsWhenFull: !compaction,
  }
}

function windowOf({ scale, effectiveTokens, windowTokens }: LearnedLimit) {
  return { scale, effectiveTokens, windowTokens }
}

const NO_COMPACTION: TurnCompaction = { host: NO_HOST, isOn: false, scale: 1 }

/** Does what the answer calls for: run tools, ask again, or end. Undefined means: one more request. */
async function* actOn(
  state: TurnState,
  collected: CollectedResponse,
  setup: TurnSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, TurnEnd | undefined> {
  const { response, unreadable } = collected
  // An answer that was refused midway is not acted on.
  if (response.stop_reason === 'refusal') return refused(collected)
  const uses = response.content.filter((block): block is ToolUseBlock => isBlock(block, 'tool_use'))
  if (uses.length > 0) {
    state.session = yield* runTools(state.session, { uses, unreadable }, setup, signal)
    signal.throwIfAborted()
    return undefined
  }
  switch (response.stop_reason) {
    case 'pause_turn':
      return undefined
    case 'max_tokens': {
      if (++state.continuations > CONTINUATIONS_MAX) {
        yield { type: 'notice', text: CUT_SHORT }
        return { reason: 'answered' }
      }
      yield* appendShown(state, messageBody({ role: 'user', content: GO_ON }, 'engine'), setup)
      return undefined
    }
    case 'model_context_window_exceeded': {
      const before = state.session
      const usedTokens = promptTokens(response.usage)
      setup.ports.trace({ name: 'overflow', reason: 'answer-cut', usedTokens })
      yield* compactNow(state, usedTokens, setup, signal)
      if (state.session === before) return { reason: 'window-full', message: WINDOW_FULL }
      yield* appendShown(state, messageBody({ role: 'user', content: GO_ON }, 'engine'), setup)
      return undefined
    }
    default:
      return { reason: 'answered' }
  }
}

function refused({ response }: CollectedResponse): TurnEnd {
  const explanation =
    response.stop_details?.explanation ?? response.stop_details?.category ?? 'no reason was given'
  return { reason: 'refused', explanation }
}

/** The provider changed our input before it used it, so what we sent was wrong. */
function traceTransformed({ response }: CollectedResponse, { trace }: Pick<Ports, 'trace'>): void {
  for (const { type, path, reason } of response.input_transformations ?? [])
    trace({ name: 'input-transformed', type, path, reason })
}

async function* appendShown(
  state: TurnState,
  body: EntryBody<MessageEntry>,
  setup: Pick<TurnSetup, 'ports'>,
): AsyncGenerator<LoopEvent> {
  const { session, entry } = await appendMessage(state.session, body, setup.ports)
  state.session = session
  yield { type: 'message', entry }
}

async function* appendEngine(
  state: TurnState,
  bodies: readonly NamedBody[],
  setup: Pick<TurnSetup, 'ports'>,
): AsyncGenerator<LoopEvent> {
  if (bodies.length === 0) return
  const { session, entries } = await appendTo(state.session, bodies, setup.ports)
  state.session = session
  yield { type: 'engine', entries }
}

/** A provider error ends the turn with one sentence; our own and the disk's errors reach the caller. */
function endOf(error: unknown, signal: AbortSignal): TurnEnd {
  if (signal.aborted) return { reason: 'aborted' }
  if (error instanceof ProviderError && error.failure.kind === 'over-budget') {
    const { neededUsd, leftUsd, limit } = error.failure
    return { reason: 'max-cost', neededUsd, leftUsd, ...(limit && { limit }) }
  }
  if (error instanceof ProviderError)
    return { reason: 'failed', failure: error.failure, message: error.message }
  throw error
}
