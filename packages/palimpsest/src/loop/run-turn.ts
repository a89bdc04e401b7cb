import { afterTurn } from '../engine/after-turn.ts'
import { beforeRequest, type Readiness } from '../engine/before-request.ts'
import { buildRequest, type BuiltRequest, type CacheLifetimes } from '../engine/build-request.ts'
import type { CacheWatch } from '../engine/cache-watch.ts'
import { learnNewest } from '../engine/calibration.ts'
import { serverEdits } from '../engine/server-edits.ts'
import { appendMessage, appendTo, messageBody, type EntryBody, type Session } from '../engine/session.ts'
import { ProviderError } from '../errors.ts'
import type { MicroPolicy, StoragePolicy } from '../engine/limits.ts'
import type { Ports, Source } from '../ports.ts'
import type { MessageEntry } from '../transcript/entry.ts'
import type { Calibration } from '../tokens/calibrate.ts'
import type { Thresholds } from '../tokens/thresholds.ts'
import type { ThinkingPolicy } from '../transcript/settle.ts'
import { isBlock, type ToolUseBlock } from '../wire/message.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import { collectResponse, type AnsweredRequest, type CollectedResponse } from './collect-response.ts'
import type { LoopEvent, TurnEnd } from './events.ts'
import type { ForkPoint } from './fork-point.ts'
import { readCache } from './read-cache.ts'
import { withRetries } from './retry.ts'
import { runTools } from './run-tools.ts'
import type { LoopTool, Permit } from './tool.ts'

// One turn: from a user message to the answer that calls no tool. A generator of events; it holds no screen and no key.

/** How often a turn asks the model to go on after its output limit. */
export const CONTINUATIONS_MAX = 2
const GO_ON = 'Your answer reached the output limit. Go on exactly where it stopped; repeat nothing.'
const CUT_SHORT = 'The answer reached the output limit again and again, and is cut short. Ask for the rest.'

export interface TurnSetup {
  readonly ports: Ports
  readonly tools: readonly LoopTool[]
  readonly permit: Permit
  readonly source: Source
  readonly maxTokens: number
  readonly lifetimes: CacheLifetimes
  readonly thinking: ThinkingPolicy
  /** What is known of the model's tokens; the turn goes on learning. */
  readonly calibration: Calibration
  readonly roundsMax: number
  /** Whether the session may still spend; asked before every request. */
  readonly maySpend: (session: Session) => boolean
  readonly facts: ModelFacts
  readonly thresholds: Thresholds
  readonly storage: StoragePolicy
  readonly micro: MicroPolicy
  /** Compares what each request read from the cache with what the ledger says. */
  readonly cacheWatch?: CacheWatch
  /** Moved to each request that was answered. */
  readonly forkPoint?: Pick<ForkPoint, 'moveTo'>
}

interface TurnState {
  session: Session
  calibration: Calibration
  continuations: number
}

/** Runs a turn on a session. Whatever happens, the returned session is valid and on disk. */
export async function* runTurn(
  session: Session,
  input: readonly EntryBody<MessageEntry>[],
  setup: TurnSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, Session> {
  const state: TurnState = { session, calibration: setup.calibration, continuations: 0 }
  let end: TurnEnd
  try {
    for (const body of input) yield* appendShown(state, body, setup)
    end = yield* runRounds(state, setup, signal)
  } catch (error) {
    end = endOf(error, signal)
  }
  yield* appendEngine(state, afterTurn(state.session, end), setup)
  yield { type: 'turn-end', end }
  return state.session
}

async function* runRounds(
  state: TurnState,
  setup: TurnSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, TurnEnd> {
  for (let round = 0; round < setup.roundsMax; round++) {
    signal.throwIfAborted()
    const ready = yield* prepare(state, setup)
    if (ready.blocked !== undefined) return { reason: 'window-full', message: ready.blocked }
    if (!setup.maySpend(state.session)) return { reason: 'max-cost' }
    const built = buildRequest(state.session.view, { ...setup, stream: true })
    const collected = yield* withRetries((attempt) => ask(built, attempt, setup, signal), setup.ports, signal)
    setup.forkPoint?.moveTo(built, collected.startedAt)
    yield* readCache(state, collected, setup)
    traceTransformed(collected, setup.ports)
    yield* appendShown(state, answerBody(collected, built), setup)
    const { context_management: applied } = collected.response
    yield* appendEngine(state, serverEdits(state.session.view, applied), setup)
    state.calibration = learnNewest(state.session.view, setup.thinking, state.calibration)
    const end = yield* actOn(state, collected, setup, signal)
    if (end) return end
  }
  return { reason: 'max-rounds' }
}

/** Appends what the engine asks for before a request, and hands it the session as it then is. */
async function* prepare(state: TurnState, setup: TurnSetup): AsyncGenerator<LoopEvent, Readiness> {
  const limits = {
    ...setup,
    calibration: state.calibration,
    blockingTokens: setup.thresholds.blocking,
    lifetime: setup.lifetimes.messages,
    isMain: setup.source === 'main' || setup.source.startsWith('main:'),
  }
  const steps = beforeRequest(state.session, limits, setup.ports)
  for (let next = await steps.next(state.session); ; next = await steps.next(state.session)) {
    if (next.done) return next.value
    yield* appendEngine(state, next.value, setup)
  }
}

async function* ask(
  built: BuiltRequest,
  attempt: number,
  setup: TurnSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, AnsweredRequest> {
  yield { type: 'request-start', attempt, estimatedTokens: built.estimate }
  const { body, betas, model } = built
  const startedAt = setup.ports.clock.now()
  const collected = yield* collectResponse(
    setup.ports.streamModel({ body, betas, model, source: setup.source }, signal),
  )
  signal.throwIfAborted()
  return { ...collected, startedAt }
}

/** What the answer asks for: tools, patience, an end. Undefined means: one more request. */
async function* actOn(
  state: TurnState,
  collected: CollectedResponse,
  setup: TurnSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, TurnEnd | undefined> {
  const { response, unreadable } = collected
  // What was refused in mid-answer is not acted on.
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
    case 'model_context_window_exceeded':
      return {
        reason: 'window-full',
        message: 'The answer ended because the window is full. Compact, then go on.',
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

/** The provider took something else than what was sent: what was sent was wrong. */
function traceTransformed({ response }: CollectedResponse, { trace }: Pick<Ports, 'trace'>): void {
  for (const { type, path, reason } of response.input_transformations ?? [])
    trace({ name: 'input-transformed', type, path, reason })
}

function answerBody(collected: CollectedResponse, built: BuiltRequest): EntryBody<MessageEntry> {
  const { response, json, requestId } = collected
  return messageBody(response, 'model', {
    json,
    responseId: response.id,
    model: response.model,
    usage: response.usage,
    under: built.under,
    sentEstimate: built.estimate,
    ...(requestId === undefined ? {} : { requestId }),
  })
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
  bodies: readonly EntryBody[],
  setup: Pick<TurnSetup, 'ports'>,
): AsyncGenerator<LoopEvent> {
  if (bodies.length === 0) return
  const { session, entries } = await appendTo(state.session, bodies, setup.ports)
  state.session = session
  yield { type: 'engine', entries }
}

/** Errors of the provider end the turn with one sentence; ours and the disk's go on to the caller. */
function endOf(error: unknown, signal: AbortSignal): TurnEnd {
  if (signal.aborted) return { reason: 'aborted' }
  if (error instanceof ProviderError)
    return { reason: 'failed', failure: error.failure, message: error.message }
  throw error
}
