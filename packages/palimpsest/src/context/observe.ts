import type { CacheBreak } from '../accounts/cache-watch.ts'
import { besideLimits } from '../engine/beside-limits.ts'
import { UsageError } from '../errors.ts'
import { answerBody } from '../loop/answers/answer-body.ts'
import { fitAnswer } from '../loop/answers/fit-answer.ts'
import { readCache } from '../loop/read-cache.ts'
import type { ForkParent } from '../request/fork-request.ts'
import { learnNewest } from '../situation/calibration.ts'
import { serverEdits } from '../situation/server-edits.ts'
import { appendMessage, appendTo } from '../situation/session.ts'
import { parseResponse } from '../wire/parse.ts'
import type { MessagesResponse } from '../wire/response.ts'
import { problemText } from '../wire/shape.ts'
import { grow, tipOf, type ContextSetup, type ContextState, type SentRequest } from './context-state.ts'
import { keyOf } from './owner-message.ts'
import { childOf } from './owner-tree.ts'
import { limitsOf, type ContextLimits } from './prepare.ts'
import { noteThinking } from './thinking-origin.ts'

// The answer to the last request: what it cost, what the cache did, what it teaches about sizes. It joins the transcript;
// it joins the conversation only if the owner sends it with the next history.

export interface Observed {
  /** Set if less was read from the cache than must have been in it. */
  readonly cacheBreak: CacheBreak | undefined
}

export async function observe(state: ContextState, answer: unknown, setup: ContextSetup): Promise<Observed> {
  const { sent } = state
  if (!sent)
    throw new UsageError('There is no request that this answer could belong to: call `prepare` first.')
  requireWhole(answer)
  const parsed = parseResponse(answer)
  if (!parsed.ok)
    throw new UsageError(`This is not an answer of the Messages API: ${problemText(parsed.problem)}.`)
  const response = parsed.value
  if (isKnown(state, response)) return { cacheBreak: undefined }
  const limits = limitsOf(state, sent.head, setup, sent.lifetimes)
  const cacheBreak = readCacheNow(state, response, setup)
  state.forkPoint.moveTo(forkParent(sent), sent.at)
  const { ports } = setup
  const json = JSON.stringify(answer)
  const body = answerBody({ response, json, breaksSeal: false }, sent)
  const { session, entry } = await appendMessage(state.session, body, ports)
  noteThinking(state.madeUnder, entry)
  const tip = tipOf(state)
  if (tip) state.path.push(childOf(tip, keyOf(response), entry.id))
  grow(state, session)
  await settleAnswer(state, response, limits, setup)
  return { cacheBreak }
}

/** A stream or a promise is easily mistaken for the answer. */
function requireWhole(answer: unknown): void {
  if (typeof answer !== 'object' || answer === null) return
  if (Symbol.asyncIterator in answer)
    throw new UsageError(
      'This is a stream, and `observe` takes the whole answer: use `messages.stream` and give it `await stream.finalMessage()`.',
    )
  if ('then' in answer)
    throw new UsageError('This is a promise, and `observe` takes the answer: await it first.')
}

/** The same answer was passed twice. */
function isKnown(state: ContextState, response: MessagesResponse): boolean {
  const newest = state.session.view.nodes.at(-1)
  return (
    newest?.role === 'assistant' &&
    newest.source.responseId === response.id &&
    tipOf(state)?.key === keyOf(response)
  )
}

function readCacheNow(
  state: ContextState,
  response: MessagesResponse,
  { ports }: ContextSetup,
): CacheBreak | undefined {
  const { sent, watch } = state
  // Only a request without breakpoints of the owner was quoted before it was sent.
  if (sent?.hasOwnerMarks !== false) return undefined
  for (const event of readCache({ response, startedAt: sent.at }, { ports, cacheWatch: watch }))
    if (event.type === 'cache-break') return event.break
  return undefined
}

async function settleAnswer(
  state: ContextState,
  response: MessagesResponse,
  limits: ContextLimits,
  { ports }: ContextSetup,
): Promise<void> {
  const { view } = state.session
  const calibration = learnNewest(view, limits.thinking, limits.calibration)
  if (state.calibration) state.calibration = { ...state.calibration, value: calibration }
  const cut = await fitAnswer(view, { ...limits, calibration }, ports)
  const bodies = [...serverEdits(view, response.context_management), ...cut]
  if (bodies.length > 0) grow(state, (await appendTo(state.session, bodies, ports)).session)
  const moment = { ...limits, situation: { ...limits, calibration }, ports }
  const beside = besideLimits(state.session.view, moment)
  state.prepared.consider(state.session.view, { ...beside, wishes: limits.compaction.wishes })
}

/** Serialized only when a fork needs it. */
function forkParent({ request, under, lastRole, lifetimes, head }: SentRequest): ForkParent {
  const { messages, stream: _, ...members } = request
  return {
    get body() {
      return `${JSON.stringify(members).slice(0, -1)},"messages":${JSON.stringify(messages)}}`
    },
    betas: head.prefix.betas,
    model: request.model,
    lifetime: lifetimes.messages,
    // Where the caller sets breakpoints is up to the caller.
    spare: [],
    under,
    lastRole,
  }
}
