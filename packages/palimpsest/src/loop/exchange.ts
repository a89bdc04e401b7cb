import { breakpointPlaces } from '../request/breakpoint-places.ts'
import { buildRequest, type BuildOptions, type BuiltRequest } from '../request/build-request.ts'
import type { CacheWatch } from '../accounts/cache-watch.ts'
import { stoppedNote } from '../situation/interrupted.ts'
import { ownIds } from './answers/own-ids.ts'
import type { EntryBody, Session } from '../situation/session.ts'
import type { Situation } from '../situation/situation.ts'
import { sizeOf } from '../situation/size-of.ts'
import type { Ports, Source } from '../ports.ts'
import { factorOf } from '../tokens/calibrate.ts'
import type { MessageEntry } from '../transcript/entry.ts'
import { settle } from '../transcript/settle.ts'
import type { JsonText } from '../wire/json.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'
import {
  collectResponse,
  nothingGathered,
  type AnsweredRequest,
  type Gathered,
} from './answers/collect-response.ts'
import type { LoopEvent } from './events.ts'
import type { SpendingLimit } from '../errors.ts'
import { affordedTokens } from '../accounts/budget.ts'
import { partialAnswer } from './answers/partial-answer.ts'
import { withRetries, type Attempts } from './retry.ts'

// One request and its answer. If the answer does not reach its end, the caller has the part that arrived.

export interface Exchange {
  readonly built: BuiltRequest
  readonly collected: AnsweredRequest
}

/** What is known where a request is sent. */
export interface Asking {
  readonly session: Session
  readonly situation: Situation
  /** The part of the newest answer that has arrived, while it is incomplete. */
  cut: CutAnswer | undefined
}

export interface AskSetup extends Pick<BuildOptions, 'maxTokens' | 'lifetimes'> {
  readonly ports: Pick<Ports, 'clock' | 'newId' | 'random' | 'trace' | 'streamModel'>
  readonly source: Source
  readonly cacheWatch?: CacheWatch | undefined
  readonly spending: {
    /** US dollars that may still be spent. Absent: no limit. */
    readonly leftUsd?: (() => number) | undefined
    readonly limit?: (() => SpendingLimit | undefined) | undefined
  }
}

interface CutAnswer {
  readonly gathered: Gathered
  readonly built: BuiltRequest
  readonly expected: Usage | undefined
}

export async function* exchange(
  asking: Asking,
  setup: AskSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, Exchange> {
  const expected = expectedUsage(asking, setup)
  const maxTokens = affordedAnswer(asking, setup, expected)
  const { thinking } = asking.situation
  const { lifetimes } = setup
  const built = buildRequest(asking.session.view, { maxTokens, lifetimes, thinking, stream: true })
  const attempts: Attempts<AnsweredRequest> = {
    ask: (attempt) => {
      const ids = ownIds(asking.session.view, setup.ports.newId)
      const cut = { gathered: nothingGathered(ids), built, expected }
      asking.cut = cut
      return ask(cut, attempt, setup, signal)
    },
    discard: () => {
      const isShown = asking.cut?.gathered.isShown ?? false
      asking.cut = undefined
      return isShown
    },
  }
  const collected = yield* withRetries(attempts, setup.ports, signal)
  asking.cut = undefined
  return { built, collected }
}

/** What to append of an answer that was broken off: the visible part, and a note that it was stopped. */
export function keptOfCut({ cut }: Pick<Asking, 'cut'>): readonly EntryBody<MessageEntry>[] {
  const answer = cut && partialAnswer(cut.gathered, cut.built.under)
  return answer ? [answer, stoppedNote()] : []
}

async function* ask(
  { built, expected, gathered }: CutAnswer,
  attempt: number,
  { ports, source }: AskSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, AnsweredRequest> {
  yield { type: 'request-start', attempt, estimatedTokens: built.estimate }
  const { body, betas, model } = built
  const startedAt = ports.clock.now()
  const request = { body, betas, model, source, ...(expected && { expected }) }
  const collected = yield* collectResponse(ports.streamModel(request, signal), gathered, signal)
  return { ...collected, startedAt }
}

/** The requested length, or less if a dollar limit allows only less. */
function affordedAnswer(
  { session: { view }, situation }: Asking,
  { maxTokens, spending: { leftUsd, limit } }: AskSetup,
  expected: Usage | undefined,
): number {
  if (!leftUsd) return maxTokens
  const prompt = expected ?? { input_tokens: sizeOf(view, situation), output_tokens: 0 }
  const thinkingTokens = thinkingBudget(view.prefix?.parameters['thinking'])
  return affordedTokens(prompt, {
    prices: situation.facts.prices,
    maxTokens,
    thinkingTokens,
    leftUsd: leftUsd(),
    limit: limit?.(),
  })
}

const BUDGET = /"budget_tokens":(\d+)/

function thinkingBudget(parameter: JsonText | undefined): number {
  return Number(BUDGET.exec(parameter ?? '')?.[1] ?? 0)
}

/** Split according to the ledger; the sum is our count of the conversation. */
function expectedUsage({ session: { view }, situation }: Asking, setup: AskSetup): Usage | undefined {
  const { cacheWatch, lifetimes, ports } = setup
  if (!cacheWatch) return undefined
  const settled = settle(view, situation.thinking)
  const factor = factorOf(situation.calibration)
  const usage = cacheWatch.quote({
    view,
    settled,
    places: breakpointPlaces(view, settled),
    lifetimes,
    facts: situation.facts,
    at: ports.clock.now(),
    toTokens: (raw) => raw * factor,
  })
  return withSum(usage, sizeOf(view, situation))
}

function withSum(usage: Usage, tokens: number): Usage {
  const sum = promptTokens(usage)
  if (sum === 0) return { ...usage, input_tokens: tokens }
  const part = (count: number | null | undefined): number => Math.round(((count ?? 0) * tokens) / sum)
  const [short, long] = [
    part(usage.cache_creation?.ephemeral_5m_input_tokens),
    part(usage.cache_creation?.ephemeral_1h_input_tokens),
  ]
  return {
    input_tokens: part(usage.input_tokens),
    output_tokens: 0,
    cache_read_input_tokens: part(usage.cache_read_input_tokens),
    cache_creation_input_tokens: short + long,
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long },
  }
}
