import { computeThresholds } from '../../situation/thresholds.ts'
import { computeWindow } from '../../situation/window.ts'
import type { Entry, MessageEntry, PrefixEntry } from '../../transcript/entry.ts'
import { chainEnd, settle, tokensEnd, type Settled, type ThinkingPolicy } from '../../transcript/settle.ts'
import { emptyView, step as foldEntry, type View } from '../../transcript/view.ts'
import type { ModelFacts } from '../../wire/model-facts.ts'
import type { Usage } from '../../wire/usage.ts'
import { commonNodes } from '../../request/lay-request.ts'
import {
  createBiller,
  HIDDEN_PROMPT,
  type Bill,
  type Biller,
  type ChargedRequest,
} from './charge-requests.ts'
import { createRequestChecker, type RequestChecker } from './check-request.ts'
import { reportedPrompt, responseOf, type ReplaySession, type ReplayStep } from './replay-session.ts'
import type { SizeModel, Sizes } from './size-model.ts'
import type { Actions, Moment, Strategy, StrategyRun, StrategySettings } from './strategies/strategy.ts'
import type { Act, TracedRequest } from './traced-request.ts'

// Runs one strategy through one session. At each step it sees only the past and may append entries; then the request is built from the
// view, judged and charged; then the recorded answer is appended as if the model had given it to this request.

export interface RunOptions {
  readonly strategy: Strategy
  readonly windowTokens: number
  readonly sizes: SizeModel
  readonly factsOf: (model: string) => ModelFacts
  /** Off for sessions that no provider could have answered: nothing is judged or charged. */
  readonly bills: boolean
}

/** What is about to be sent. `view` and `settled` belong to the run: read them, do not keep them. */
export interface Sent {
  readonly index: number
  readonly step: ReplayStep
  readonly view: View
  readonly settled: Settled
  /** Nodes that are unchanged since the request before. */
  readonly keptNodes: number
  /** The strategy changed earlier messages before this request. */
  readonly acted: boolean
  readonly act: Act
  /** The strategy could not make room before this request and had the user compact by hand. */
  readonly stopped: boolean
  /** Tokens of the messages, without the hidden prompt. */
  readonly messageTokens: number
  readonly promptTokens: number
  readonly brokenRule?: string
  readonly bill?: Bill
  /** Dollars of the strategy's own model calls, by layer. */
  readonly callDollars: ReadonlyMap<string, number>
}

/** Most plans before one request; the plans made so far apply. */
const PLANS_MAX = 4

export async function* runStrategy(session: ReplaySession, options: RunOptions): AsyncGenerator<Sent, void> {
  const { strategy, sizes, factsOf } = options
  const run = strategy.create(settingsFor(session, options))
  const biller = createBiller(sizes.fitted)
  const checker = createRequestChecker()
  const answers = new Map<string, AnsweredTo>()
  let view = emptyView()
  let model: string | undefined
  let prefix: PrefixEntry | undefined
  let last: Settled['blocks'] = []
  let read = 0
  for (const [index, step] of session.steps.entries()) {
    for (; read < step.from; read++) {
      const entry = session.entries[read]
      if (entry) view = foldEntry(view, answered(entry, answers))
    }
    const facts = factsOf(step.model)
    if (step.model !== model || step.prefix !== prefix)
      view = foldEntry(view, step.prefix ?? prefixEntry(step))
    model = step.model
    prefix = step.prefix
    const policy = thinkingPolicy(step.model, facts)
    const request: Omit<ChargedRequest, 'view' | 'settled'> = {
      model,
      facts,
      at: step.requestedAt,
      beganAt: step.beganAt,
      ttl: step.ttl,
      outputTokens: sizes.outputTokens[index] ?? 0,
    }
    const planned = await plan(view, { run, index, session, options, policy, biller, request })
    view = planned.view
    const settled = settle(view, policy)
    const keptNodes = commonNodes(last, settled.blocks)
    last = [...settled.blocks]
    const messageTokens = Math.round(tokensEnd(settled) * sizes.fitted.factor)
    const promptTokens = messageTokens + sizes.fitted.hiddenTokens
    const { act, callDollars, stopped } = planned
    const shown = { index, step, view, settled, keptNodes, act, acted: act !== 'none', stopped }
    const judged = options.bills
      ? judge({ ...request, view, settled }, { checker, biller, from: keptNodes, promptTokens, options })
      : {}
    const sent: Sent = { ...shown, messageTokens, promptTokens, ...judged, callDollars }
    tell(sent, options, {
      outputTokens: request.outputTokens,
      idleMs: idleMs(session.steps[index - 1], step),
    })
    yield sent
    const reported = reportedTokens(settled, step, sizes.before[index + 1] ?? sizes.fitted)
    answers.set(step.responseId, {
      under: chainEnd(settled),
      sentEstimate: tokensEnd(settled),
      usage: usageOf(reported, step),
    })
  }
}

/** The strategy is told the caller's window, whatever the recorded model accepts. */
export function settingsFor(
  session: ReplaySession,
  { strategy, windowTokens, factsOf }: RunOptions,
): StrategySettings {
  const facts = factsOf(session.steps[0]?.model ?? '')
  const { maxInput: _maxInput, ...plain } = facts
  const model = { facts: { ...plain, contextWindow: windowTokens, prices: [] }, known: true }
  const window = computeWindow(model, { workingWindow: 'full' })
  let made = 0
  return {
    windowTokens,
    scale: window.scale,
    thresholds: computeThresholds(window),
    newId: () => `${strategy.name}-${++made}`,
  }
}

interface PlanInput {
  readonly run: StrategyRun
  readonly index: number
  readonly session: ReplaySession
  readonly options: RunOptions
  readonly policy: ThinkingPolicy
  readonly biller: Biller
  readonly request: Omit<ChargedRequest, 'view' | 'settled'>
}

interface Planned {
  readonly view: View
  readonly act: Act
  readonly callDollars: ReadonlyMap<string, number>
  readonly stopped: boolean
}

async function plan(start: View, input: PlanInput): Promise<Planned> {
  const { options, policy, biller, request } = input
  const callDollars = new Map<string, number>()
  let view = start
  let act: Act = 'none'
  let stopped = false
  const take = (actions: Actions): void => {
    const { entries, calls = [] } = actions
    if (options.bills)
      for (const call of calls) {
        const dollars = biller.chargeCall({ ...request, view, settled: settle(view, policy) }, call)
        callDollars.set(call.layer, (callDollars.get(call.layer) ?? 0) + dollars)
      }
    if (entries.some((entry) => entry.kind === 'boundary')) act = 'compaction'
    else if (act === 'none' && entries.some((entry) => entry.kind === 'edit')) act = 'edit'
    for (const entry of entries) view = foldEntry(view, entry)
    stopped ||= actions.stopped ?? false
  }
  const moment = (): Moment => momentOf(input, settle(view, policy))
  if ('live' in input.run) {
    const steps = input.run.live(view, moment())
    for (let next = await steps.next(view); !next.done; next = await steps.next(view)) take(next.value)
    return { view, act, callDollars, stopped }
  }
  for (let plans = 0; plans < PLANS_MAX; plans++) {
    const actions = input.run.before(view, moment())
    take(actions)
    if (actions.entries.length === 0) break
  }
  return { view, act, callDollars, stopped }
}

function momentOf({ session, index, options, policy, request }: PlanInput, settled: Settled): Moment {
  const { factor, hiddenTokens } = options.sizes.before[index] ?? options.sizes.fitted
  return {
    now: session.steps[index]?.requestedAt ?? 0,
    sizeTokens: Math.round(tokensEnd(settled) * factor) + hiddenTokens,
    hiddenTokens,
    toTokens: (raw) => raw * factor,
    ttl: session.steps[index - 1]?.ttl ?? '5m',
    facts: request.facts,
    thinking: policy,
  }
}

function judge(
  request: ChargedRequest,
  {
    checker,
    biller,
    from,
    promptTokens,
    options,
  }: {
    readonly checker: RequestChecker
    readonly biller: Biller
    readonly from: number
    readonly promptTokens: number
    readonly options: RunOptions
  },
): Pick<Sent, 'brokenRule' | 'bill'> {
  const brokenRule = checker.check({
    facts: request.facts,
    model: request.model,
    nodes: request.view.nodes,
    blocks: request.settled.blocks,
    from,
    tokens: promptTokens,
    windowTokens: options.strategy.unbounded ? Infinity : options.windowTokens,
  })
  return { bill: biller.charge(request), ...(brokenRule !== undefined && { brokenRule }) }
}

function tell(
  sent: Sent,
  { strategy, windowTokens }: RunOptions,
  recorded: Pick<TracedRequest, 'outputTokens' | 'idleMs'>,
): void {
  const { bill } = sent
  if (!bill) return
  const request: TracedRequest = {
    step: sent.index,
    promptTokens: sent.promptTokens,
    act: sent.act,
    readTokens: bill.charge.read,
    writtenTokens: bill.charge.written5m + bill.charge.written1h,
    uncachedTokens: bill.charge.uncached,
    explanation: bill.explanation,
    ...recorded,
    dollars: bill.dollars,
    callDollars: [...sent.callDollars.values()].reduce((sum, dollars) => sum + dollars, 0),
  }
  strategy.watch?.(request, windowTokens)
}

function idleMs(last: ReplayStep | undefined, { requestedAt }: ReplayStep): number {
  if (!last) return 0
  const pause = requestedAt - last.beganAt
  return pause > LIFETIME_MS[last.ttl] ? pause : 0
}

const LIFETIME_MS = { '5m': 300_000, '1h': 3_600_000 } as const

type AnsweredTo = Required<Pick<MessageEntry, 'under' | 'usage' | 'sentEstimate'>>

/** The recorded answer was made for another request; here it counts as made for ours, and reports our size. */
function answered(entry: MessageEntry, answers: ReadonlyMap<string, AnsweredTo>): Entry {
  const own = answers.get(responseOf(entry))
  return own ? { ...entry, ...own } : entry
}

/**
 * The prompt size that the provider would have reported: the recorded one if our request is byte-identical, otherwise an estimate with
 * the sizes known after the answer. Reported growth would tell less: recorded prompts shrink for reasons that no recording shows.
 */
function reportedTokens(settled: Settled, step: ReplayStep, { factor, hiddenTokens }: Sizes): number {
  const prompt = step.under === chainEnd(settled) ? reportedPrompt(step) : undefined
  return prompt ?? Math.round(tokensEnd(settled) * factor) + hiddenTokens
}

/** Counts everything as written; the ledger has what was read and written. */
function usageOf(tokens: number, { ttl, usage }: ReplayStep): Usage {
  const written = ttl === '1h' ? [0, tokens] : [tokens, 0]
  const [ephemeral_5m_input_tokens = 0, ephemeral_1h_input_tokens = 0] = written
  return {
    input_tokens: 0,
    output_tokens: usage?.output_tokens ?? 0,
    cache_creation_input_tokens: tokens,
    cache_creation: { ephemeral_5m_input_tokens, ephemeral_1h_input_tokens },
  }
}

function prefixEntry(step: ReplayStep): PrefixEntry {
  return {
    kind: 'prefix',
    id: `prefix-${step.responseId}`,
    parent: null,
    at: step.requestedAt,
    model: step.model,
    betas: [],
    system: HIDDEN_PROMPT,
    tools: '[]',
    parameters: {},
    reason: 'recorded',
  }
}

function thinkingPolicy(model: string, { thinking }: ModelFacts): ThinkingPolicy {
  const { bindsPrefix, readsFrom, keptAcrossTurns } = thinking
  return { model, bindsPrefix, readsFrom, dropsEarlierThinking: !keptAcrossTurns }
}
