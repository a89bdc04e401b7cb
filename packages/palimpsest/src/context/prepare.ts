import { drive } from '../drive.ts'
import { UsageError } from '../errors.ts'
import type { AutoCompaction } from '../engine/auto-compact.ts'
import { beforeRequest, type RequestLimits } from '../engine/before-request.ts'
import { onArrivedResults } from '../engine/on-tool-result.ts'
import { storagePolicy } from '../layers/1-tool-results/policy.ts'
import { microPolicy } from '../layers/2-micro-compaction/policy.ts'
import { NO_HOST } from '../layers/4-compaction/compaction-host.ts'
import { createAskModel } from '../loop/ask-once.ts'
import type { LoopEvent } from '../loop/events.ts'
import { takeEngineSteps } from '../loop/take-engine-steps.ts'
import type { Ports } from '../ports.ts'
import { breakpointPlaces } from '../request/breakpoint-places.ts'
import type { CacheLifetimes } from '../request/build-request.ts'
import { lifetimesFor } from '../request/cache-lifetimes.ts'
import { reportNow } from '../situation/after-undo.ts'
import { calibrationOf } from '../situation/calibration.ts'
import { modelPolicy } from '../situation/model-policy.ts'
import { appendTo } from '../situation/session.ts'
import { sizeOf } from '../situation/size-of.ts'
import type { Situation, WindowReading } from '../situation/situation.ts'
import { factorOf } from '../tokens/calibrate.ts'
import { isRemoval, type Entry } from '../transcript/entry.ts'
import { settle } from '../transcript/settle.ts'
import type { OwnerMark } from './breakpoint-marks.ts'
import { buildOwnerRequest, type OwnerRequest } from './build-owner-request.ts'
import { grow, type ContextSetup, type ContextState, type SentRequest } from './context-state.ts'
import { followHistory, type Followed } from './follow-history.ts'
import { takeBeside, watchOf } from './open-context.ts'
import { headOf, type OwnerHead, type PrepareInput } from './owner-prefix.ts'
import { requireFitting } from './require-fitting.ts'
import { shorten, type Shortening } from './shorten.ts'

// From the owner's history to the request to send: the transcript follows the history, then come the steps before every request.

export interface PreparedRequest {
  readonly request: OwnerRequest
  readonly plan: RequestPlan
}

/** What became of a history on its way to the request. */
export interface RequestPlan {
  /** Size of the request in tokens, as far as it is known. */
  readonly tokens: number
  /** Whole percent that are still free before the conversation is compacted. */
  readonly percentLeft: number
  /** What the owner did since the last request, and the first message that changed. */
  readonly history: Pick<Followed, 'change' | 'from'>
  /** What was done for this request, oldest first. Each can be undone by its id. */
  readonly actions: readonly PlannedAction[]
  /** Sentences for the user: why something could not be done. */
  readonly notices: readonly string[]
}

export interface PlannedAction {
  /** `stored`: a result is shown in part. `cleared`: old results were removed. `compacted`: a summary replaced messages. */
  readonly kind: 'stored' | 'cleared' | 'compacted'
  readonly id: string
  /** Tokens that it freed; undefined if unknown. */
  readonly tokens: number | undefined
}

export async function prepare(
  state: ContextState,
  input: PrepareInput,
  setup: ContextSetup,
  signal: AbortSignal,
): Promise<PreparedRequest> {
  requireInput(input)
  const early = await takeBeside(state, setup)
  const head = headOf(input, setup.model)
  const { prefix } = head
  const { facts } = setup.readingOf(prefix.model, undefined).model
  const thinking = modelPolicy(prefix.model, facts)
  const followed = await followHistory(state, input.messages, { setup, prefix, thinking, facts })
  const told = listen()
  const limits = limitsOf(state, head, setup)
  const stored = await onArrivedResults(state.session.view, followed.added, limits, setup.ports)
  if (stored.length > 0) {
    const appended = await appendTo(state.session, stored, setup.ports)
    grow(state, appended.session)
    told.hear({ type: 'engine', entries: appended.entries })
  }
  const tokens = await fit(state, limits, { ports: setup.ports, hear: told.hear }, signal)
  const late = await takeBeside(state, setup)
  const { request } = buildNow(state, { head, marks: followed.marks, tokens }, limits, setup)
  const notices = [...early, ...told.notices, ...late]
  const { change, from } = followed
  return {
    request,
    plan: {
      tokens,
      percentLeft: reportNow(tokens, state.session.view, limits.reading).percentLeft,
      history: { change, from },
      actions: told.actions,
      notices,
    },
  }
}

/** Programs without types may leave out what the types require. */
function requireInput(input: { readonly messages?: unknown; readonly max_tokens?: unknown }): void {
  const { messages, max_tokens: maxTokens } = input
  if (!Array.isArray(messages))
    throw new UsageError('`messages` is not a list: give the messages of your history.')
  if (messages.length === 0) throw new UsageError('`messages` is empty: a request needs at least one.')
  if (typeof maxTokens !== 'number')
    throw new UsageError('`max_tokens` is missing: say how long the answer may be, for example 8000.')
}

/** Takes the steps before every request. If they leave too much, only what must stay does. Returns the tokens that are left. */
async function fit(
  state: ContextState,
  limits: ContextLimits,
  told: Shortening,
  signal: AbortSignal,
): Promise<number> {
  const { ports, hear } = told
  const steps = beforeRequest(state.session, limits, ports, signal)
  const at = { session: state.session }
  const { tokens: sizeTokens, blocked } = await drive(takeEngineSteps(at, steps, ports), hear)
  grow(state, at.session)
  if (blocked === undefined) return sizeTokens
  await shorten(state, { ...limits, sizeTokens }, told, signal)
  const tokens = sizeOf(state.session.view, limits)
  requireFitting(state.session.view, tokens, limits.reading.window.window, limits)
  if (tokens >= limits.blockingTokens) hear({ type: 'notice', text: blocked })
  return tokens
}

/** What decides about a request, as it is now. */
export interface ContextLimits extends Situation, RequestLimits {
  readonly lifetimes: CacheLifetimes
  readonly reading: WindowReading
  readonly compaction: AutoCompaction
  readonly source: 'main'
}

/** `bought`: how long the breakpoints last of a request that was already sent. */
export function limitsOf(
  state: ContextState,
  { prefix: { model } }: OwnerHead,
  setup: ContextSetup,
  bought?: CacheLifetimes,
): ContextLimits {
  const { ports, policy, metered } = setup
  const reading = setup.readingOf(model, state.windowMax)
  const { window, thresholds } = reading
  const { facts } = reading.model
  const thinking = modelPolicy(model, facts)
  const { view } = state.session
  if (state.calibration?.model !== model)
    state.calibration = { model, value: calibrationOf(view, thinking, facts) }
  const lifetimes = bought ?? lifetimesFor(policy.cache, view, facts, ports)
  return {
    facts,
    thinking,
    calibration: state.calibration.value,
    thresholds,
    reading,
    lifetimes,
    lifetime: lifetimes.messages,
    isMain: true,
    source: 'main',
    blockingTokens: thresholds.blocking,
    micro: microPolicy(window.scale, policy.clearing),
    storage: storagePolicy(window.scale),
    compaction: {
      host: NO_HOST,
      isOn: true,
      scale: window.scale,
      effectiveTokens: window.effective,
      windowTokens: window.window,
      wishes: policy.compaction,
      news: state.news,
      askModel: metered && createAskModel(ports),
      runFork: metered && state.forkPoint.runFork,
      findPrepared: state.prepared.find,
    },
  }
}

interface AskedRequest {
  readonly head: OwnerHead
  readonly marks: readonly OwnerMark[]
  readonly tokens: number
}

/** Builds the request for the session as it is; the answer that is observed next belongs to it. */
export function buildNow(
  state: ContextState,
  { head, marks, tokens }: AskedRequest,
  limits: ContextLimits,
  { ports }: ContextSetup,
): SentRequest {
  const { thinking, lifetimes } = limits
  const { view } = state.session
  const built = buildOwnerRequest(view, {
    others: head.others,
    maxTokens: head.maxTokens,
    thinking,
    lifetimes,
    headMarks: head.marks,
    marks,
    path: state.path,
  })
  quoteNow(state, built.hasOwnerMarks, limits, ports)
  const sent = { ...built, head, marks, lifetimes, tokens, at: ports.clock.now(), leaf: view.leaf }
  state.sent = sent
  return sent
}

/** Quotes the request to the ledger. If the owner sets breakpoints, nobody can tell what must be cached. */
function quoteNow(
  state: ContextState,
  hasOwnerMarks: boolean,
  { thinking, lifetimes, facts, calibration }: ContextLimits,
  { clock }: Pick<Ports, 'clock'>,
): void {
  if (hasOwnerMarks) {
    state.watch = undefined
    return
  }
  const { view } = state.session
  const settled = settle(view, thinking)
  const factor = factorOf(calibration)
  watchOf(state).quote({
    view,
    settled,
    places: breakpointPlaces(view, settled),
    lifetimes,
    facts,
    at: clock.now(),
    toTokens: (raw) => raw * factor,
  })
}

interface Heard {
  readonly actions: PlannedAction[]
  readonly notices: string[]
  readonly hear: (event: LoopEvent) => void
}

export function listen(): Heard {
  const actions: PlannedAction[] = []
  const notices: string[] = []
  return {
    actions,
    notices,
    hear: (event) => {
      if (event.type === 'notice') notices.push(event.text)
      if (event.type === 'engine') actions.push(...event.entries.flatMap(actionOf))
    },
  }
}

function actionOf(entry: Entry): readonly PlannedAction[] {
  if (entry.kind === 'stored') return [{ kind: 'stored', id: entry.id, tokens: undefined }]
  if (entry.kind === 'edit' && isRemoval(entry))
    return [{ kind: 'cleared', id: entry.id, tokens: entry.freedTokens }]
  if (entry.kind !== 'boundary') return []
  const { preTokens, postTokens } = entry.meta
  const tokens = postTokens === undefined ? undefined : Math.max(0, preTokens - postTokens)
  return [{ kind: 'compacted', id: entry.id, tokens }]
}
