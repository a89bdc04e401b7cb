import { publishWrites } from '../../../ledger/cache.ts'
import type { CacheExplanation } from '../../../ledger/explain.ts'
import { hashBlock } from '../../../ledger/request-prompt.ts'
import type { Json } from '../../../wire/json.ts'
import { toBlocks } from '../../../wire/message.ts'
import type { TokenCount } from '../../../wire/request.ts'
import type { ErrorBody, MessagesResponse } from '../../../wire/response.ts'
import {
  explainAgainst,
  findCommonPrefix,
  findPredecessor,
  missReason,
  rememberRequest,
} from '../context/earlier-requests.ts'
import { errorMessageOf, errorTypeOf, takeFault, type Fault, type StatusFault } from '../faults.ts'
import { maskSecrets, SOURCE_HEADER, type HeaderRecord } from '../headers.ts'
import { judge, type Accepted, type Call } from '../judge.ts'
import {
  findOverflowFormat,
  overflowBody,
  overflowError,
  PLAIN_OVERFLOW,
  saysOwnNumbers,
} from '../overflow-formats.ts'
import { errorBody, type Refusal } from '../refusal.ts'
import { logRequest, type Billing, type LoggedRequest } from '../request-log.ts'
import { respond } from './respond.ts'
import type { Sampled } from './sample.ts'
import { takeStep } from './script.ts'
import { eventsOf } from './stream.ts'
import { cacheFor, newId, type State } from '../state.ts'

// One call of the Messages API, from its headers and body to its answer.

export const MESSAGES_PATH = '/v1/messages'
export const COUNT_PATH = '/v1/messages/count_tokens'

/** Headers of an in-process caller that gives none of its own. */
const IN_PROCESS_HEADERS: HeaderRecord = { 'x-api-key': 'in-process', 'anthropic-version': '2023-06-01' }

export type AnswerBody = MessagesResponse | TokenCount | ErrorBody | Json

export interface Answer {
  readonly status: number
  readonly body: AnswerBody
  readonly headers: HeaderRecord
}

/** An answer before it begins: its delay, the fault that may strike it, and what happens when it begins. */
export interface PreparedAnswer extends Answer {
  /** The message, if there is one to stream. */
  readonly sampled?: Sampled
  readonly streams: boolean
  readonly delayMs: number
  readonly fault?: Fault | undefined
  readonly begin: () => void
}

/** Answers at once and in this process: no HTTP, no delay, no network faults. */
export function answer(state: State, body: string | object, headers: HeaderRecord = {}): Answer {
  const prepared = prepareAnswer(state, MESSAGES_PATH, { ...IN_PROCESS_HEADERS, ...headers }, body)
  prepared.begin()
  return prepared
}

export function prepareAnswer(
  state: State,
  path: typeof MESSAGES_PATH | typeof COUNT_PATH,
  headers: HeaderRecord,
  body: string | object,
): PreparedAnswer {
  const id = newId(state, 'req')
  const call: Call = { headers, body, counting: path === COUNT_PATH }
  const bodyText = (): string => (typeof body === 'string' ? body : JSON.stringify(body))
  const fault = takeFault(state.faults, { path, body: bodyText })
  const entry = {
    id,
    path,
    at: new Date(state.clock.now()).toISOString(),
    headers: maskSecrets(headers),
    body,
    fault,
  }
  if (fault?.type === 'status' && fault.after_events === undefined) return strike(state, entry, fault)
  const judged = judge(state, call)
  if (fault?.type === 'prompt_too_long') return overflow(state, entry, fault.format, judged)
  if ('rule' in judged) return refused(state, entry, judged)
  if (call.counting) return counted(state, entry, judged)
  // An error in mid-stream needs a stream.
  if (fault?.type === 'status' && !judged.request.stream) return strike(state, entry, fault)
  const source = headers[SOURCE_HEADER] ?? judged.caller.source
  const step = takeStep(state.script, { body: bodyText, source })
  const sampled = respond(state, judged, step)
  if ('rule' in sampled) return refused(state, entry, sampled)
  return messageAnswer(state, entry, { judged, sampled, fault, delayMs: step?.delay_ms ?? 0 })
}

type EntryStart = Pick<LoggedRequest, 'id' | 'path' | 'at' | 'headers' | 'body' | 'fault'>

interface Outcome {
  readonly judged: Accepted
  readonly sampled: Sampled
  readonly fault: Fault | undefined
  readonly delayMs: number
}

function messageAnswer(state: State, entry: EntryStart, outcome: Outcome): PreparedAnswer {
  const { judged, fault } = outcome
  const cache = cacheFor(state, judged.caller.workspace)
  const common = findCommonPrefix(state.earlier, outcome.sampled.cacheRequest)
  const lane = laneOf(judged)
  const predecessor = findPredecessor(state.earlier, outcome.sampled.cacheRequest, lane, common)
  const explanation = explain(state, outcome, predecessor)
  const sampled = withDiagnostics(state, outcome)
  const { response, charges, cacheRequest } = sampled
  rememberRequest(state.earlier, entry.id, cacheRequest, lane)
  state.earlier.byMessage.set(response.id, entry.id)
  const logged: LoggedRequest = {
    ...entry,
    status: 200,
    ...midStreamError(outcome),
    usage: response.usage,
    cost_usd: sampled.costUsd,
    input_tokens: judged.cacheRequest.prompt.tokens,
    common_prefix_tokens: common.tokens,
    prefix_of: common.of,
    cache_explanation: explanation,
  }
  logRequest(state.log, logged, { billed: sampled.billed })
  return {
    status: 200,
    body: response,
    headers: { 'request-id': entry.id },
    sampled,
    streams: judged.request.stream ?? false,
    delayMs: outcome.delayMs,
    fault,
    begin: () => {
      for (const charge of charges) publishWrites(cache, charge, state.clock.now())
    },
  }
}

/** The error that ends the stream, if the stream is long enough to reach it. */
function midStreamError({ judged, sampled, fault }: Outcome): Pick<LoggedRequest, 'error'> {
  if (fault?.type !== 'status' || fault.after_events === undefined || !judged.request.stream) return {}
  const comes = [...eventsOf(sampled)].length > fault.after_events
  return comes ? { error: { type: errorTypeOf(fault), message: errorMessageOf(fault) } } : {}
}

/** Requests of one source whose first block is the same are one conversation, whatever else changes between them. */
function laneOf({ caller, request }: Accepted): string {
  const [first] = toBlocks(request.messages[0]?.content)
  return `${caller.workspace} ${caller.source} ${hashBlock(first ?? null, '')}`
}

function explain(state: State, { judged, sampled }: Outcome, other: string | null): CacheExplanation | null {
  const [charge] = sampled.charges
  if (!charge) return null
  const cache = cacheFor(state, judged.caller.workspace)
  return explainAgainst(state.earlier, cache, sampled.cacheRequest, { charge, with: other })
}

function withDiagnostics(state: State, outcome: Outcome): Sampled {
  const { judged, sampled } = outcome
  const previous = judged.request.diagnostics?.previous_message_id
  if (previous === undefined || previous === null) return sampled
  const other = state.earlier.byMessage.get(previous)
  const reason =
    other === undefined ? { type: 'previous_message_not_found' } : missReason(explain(state, outcome, other))
  return { ...sampled, response: { ...sampled.response, diagnostics: { cache_miss_reason: reason } } }
}

function counted(state: State, entry: EntryStart, judged: Accepted): PreparedAnswer {
  const body: TokenCount = {
    input_tokens: judged.cacheRequest.prompt.tokens,
    ...(judged.request.context_management
      ? { context_management: { original_input_tokens: judged.originalTokens } }
      : {}),
  }
  return settled(state, entry, { status: 200, body, inputTokens: body.input_tokens })
}

function refused(state: State, entry: EntryStart, refusal: Refusal): PreparedAnswer {
  const body = errorBody(refusal, entry.id)
  return settled(state, entry, { status: refusal.status, body, error: body.error, refusedBy: refusal.rule })
}

function strike(state: State, entry: EntryStart, fault: StatusFault): PreparedAnswer {
  const code = fault.error_code === undefined ? {} : { code: fault.error_code }
  const body = errorBody({ type: errorTypeOf(fault), message: errorMessageOf(fault), ...code }, entry.id)
  const retry = fault.retry_after === undefined ? {} : { 'retry-after': String(fault.retry_after) }
  const headers = { ...retry, ...fault.headers }
  return settled(state, entry, {
    status: fault.status,
    body,
    headers,
    error: body.error,
    refusedBy: `fault.${fault.status}`,
  })
}

function overflow(
  state: State,
  entry: EntryStart,
  wanted: string | number | undefined,
  judged: Accepted | Refusal,
): PreparedAnswer {
  const format = findOverflowFormat(wanted) ?? PLAIN_OVERFLOW
  if ('rule' in judged && saysOwnNumbers(format)) return refused(state, entry, judged)
  const numbers =
    'rule' in judged
      ? { tokens: 0, most: 0 }
      : { tokens: judged.cacheRequest.prompt.tokens, most: judged.window }
  const error = overflowError(format, numbers)
  const body = overflowBody(format, numbers, entry.id)
  return settled(state, entry, { status: format.status, body, error, refusedBy: 'fault.prompt_too_long' })
}

interface Settled {
  readonly status: number
  readonly body: AnswerBody
  readonly headers?: HeaderRecord
  readonly error?: ErrorBody['error']
  readonly refusedBy?: string
  readonly inputTokens?: number
}

/** Logs an answer that samples nothing and costs nothing. */
function settled(state: State, entry: EntryStart, done: Settled): PreparedAnswer {
  const logged: LoggedRequest = {
    ...entry,
    status: done.status,
    error: done.error,
    usage: null,
    cost_usd: 0,
    input_tokens: done.inputTokens ?? 0,
    common_prefix_tokens: 0,
    prefix_of: null,
    cache_explanation: null,
  }
  const billing: Billing = {
    billed: [],
    refusedBy: done.refusedBy,
  }
  logRequest(state.log, logged, billing)
  return {
    status: done.status,
    body: done.body,
    headers: { 'request-id': entry.id, ...done.headers },
    streams: false,
    delayMs: 0,
    begin: () => undefined,
  }
}
