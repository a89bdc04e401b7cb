import type { Fork, ForkOutcome, RunFork, Source, TraceEvent } from '../ports.ts'
import type { NamedBody } from '../situation/session.ts'
import { isBlank } from '../transcript/view-block.ts'
import { findMember, splitArray, type JsonText } from '../wire/json.ts'
import { isBlock, type Block, type ToolUseBlock } from '../wire/message.ts'
import type { MessagesResponse } from '../wire/response.ts'
import { parseBlock } from '../wire/parse.ts'

// A fork that runs tools over several responses. Each request is the previous one with more after it: the parent's part is read from the
// cache, and so is what the fork has said. It writes nothing to the parent's transcript; what it said goes to a record of its own.
// As far as the model can see, the tools are the parent's; what a call may do, and on whose state, is up to the one that runs it.

/** What a model is asked to do in the background. */
export interface ToolFork {
  readonly source: Source
  /** Texts of messages that other forks of this parent also have. */
  readonly shared?: readonly JsonText[] | undefined
  /** Texts of the messages that follow what the parent sent. The last one is the directive. */
  readonly messages: readonly JsonText[]
  readonly responsesMax: number
  /** Only worth its price if the cache holds what the parent wrote. */
  readonly needsCache?: boolean | undefined
}

/** The result of a call. A refusal is an error whose text gives the reason, for the model to read. */
export interface CallResult {
  readonly content: string | readonly Block[]
  readonly isError?: boolean | undefined
}

export interface ForkCall {
  readonly use: ToolUseBlock
  /** Its input was no JSON object, so it must not be run. */
  readonly isUnreadable: boolean
}

export interface ToolForkPorts {
  /** Of one parent, for all responses. */
  readonly runFork: RunFork
  /** Runs what may be run and refuses the rest: one result for each call, in order. */
  readonly runCalls: (calls: readonly ForkCall[], signal: AbortSignal) => Promise<readonly CallResult[]>
  /** Asked after every response: whether these calls complete the task. Absent: the model decides when it is done. */
  readonly isDone?: ((calls: readonly ForkCall[], results: readonly CallResult[]) => boolean) | undefined
  /** Asked before every response except the first, which the caller has already decided on. */
  readonly maySpend?: ((spent: readonly MessagesResponse[]) => boolean) | undefined
  /** What the fork was told and said, message by message, each recorded before it is acted on. */
  readonly record?: ((message: JsonText) => Promise<void>) | undefined
  readonly trace: (event: TraceEvent) => void
}

export type ToolForkEnd =
  /** The model called no more tools, or the task is done. */
  | 'answered'
  /** It called tools in the last response it was allowed; they were run. */
  | 'out-of-responses'
  | 'over-budget'
  /** Its answer was refused, or did not fit. */
  | 'cut'
  | 'failed'
  | 'aborted'
  | 'unfit'

export interface ToolForkOutcome {
  readonly end: ToolForkEnd
  /** Of the last answer. */
  readonly text: string
  /** Whole answers, in order; they show what it cost. */
  readonly responses: readonly MessagesResponse[]
  readonly calls: number
  /** Of a failure. */
  readonly reason?: string | undefined
}

/** Runs a fork to its end. An abort is an end too: what was answered before it is paid for. Rejects only if the host's part fails. */
export async function runToolFork(
  fork: ToolFork,
  ports: ToolForkPorts,
  signal: AbortSignal,
): Promise<ToolForkOutcome> {
  const state: ForkState = { messages: [...fork.messages], responses: [], kept: [], calls: 0, text: '' }
  for (const message of [...(fork.shared ?? []), ...fork.messages]) await ports.record?.(message)
  const ended = await respond(fork, state, ports, signal).catch((error: unknown): Ended => {
    if (signal.aborted) return { end: 'aborted' }
    throw error
  })
  const { text, responses, calls } = state
  ports.trace({
    name: 'tool-fork',
    source: fork.source,
    reason: ended.end,
    responses: responses.length,
    calls,
  })
  return { ...ended, text, responses, calls }
}

/** What a fork of several responses cost, under the name of its source. */
export function spentOnFork({ responses }: ToolForkOutcome, source: Source): readonly NamedBody[] {
  return responses.map(({ model, usage }) => ({ kind: 'spent', source, model, usage }))
}

interface ForkState {
  readonly messages: JsonText[]
  readonly responses: MessagesResponse[]
  /** Where the last request ended. */
  kept: readonly number[]
  calls: number
  text: string
}

type Ended = Pick<ToolForkOutcome, 'end' | 'reason'>

async function respond(
  fork: ToolFork,
  state: ForkState,
  ports: ToolForkPorts,
  signal: AbortSignal,
): Promise<Ended> {
  while (state.responses.length < fork.responsesMax) {
    signal.throwIfAborted()
    const isFirst = state.responses.length === 0
    if (!isFirst && ports.maySpend?.(state.responses) === false) return { end: 'over-budget' }
    const outcome = await ports.runFork(requestOf(fork, state), signal)
    if (outcome.kind === 'unfit') return { end: isFirst ? 'unfit' : 'over-budget' }
    if (outcome.kind === 'failed') return { end: 'failed', reason: outcome.message }
    state.responses.push(outcome.response)
    const isAtEnd = await takeAnswer(outcome, state, ports, signal)
    if (isAtEnd !== undefined) return isAtEnd
  }
  return { end: 'out-of-responses' }
}

/** The last request writes nothing to the cache, because nobody reads it. */
function requestOf({ source, shared, needsCache, responsesMax }: ToolFork, state: ForkState): Fork {
  const { messages, responses } = state
  const isLast = responses.length + 1 >= responsesMax
  const kept = isLast ? state.kept : [...state.kept, messages.length - 1]
  state.kept = [messages.length - 1]
  return {
    source,
    ...(shared && { shared }),
    messages: [...messages],
    kept,
    // What was begun is carried to its end, with or without the cache.
    needsCache: needsCache === true && responses.length === 0 ? needsCache : undefined,
  }
}

type Answer = Extract<ForkOutcome, { readonly json: JsonText }>

/** Takes an answer and runs its calls. Returns how the fork ended; undefined if one more response is due. */
async function takeAnswer(
  outcome: Answer,
  state: ForkState,
  ports: ToolForkPorts,
  signal: AbortSignal,
): Promise<Ended | undefined> {
  const { response, json } = outcome
  const answer = answerText(json)
  if (answer !== undefined) {
    state.messages.push(answer)
    await ports.record?.(answer)
  }
  state.text = textOf(response)
  const { stop_reason: stop } = response
  // An answer that was refused or cut off is not acted on.
  if (stop === 'refusal' || stop === 'max_tokens' || stop === 'model_context_window_exceeded')
    return { end: 'cut', reason: stop }
  if (outcome.kind === 'answered') return stop === 'pause_turn' ? undefined : { end: 'answered' }
  const calls = outcome.calls.map((use) => ({ use, isUnreadable: outcome.unreadable.has(use.id) }))
  state.calls += calls.length
  const results = await ports.runCalls(calls, signal)
  signal.throwIfAborted()
  const message = resultsText(calls, results)
  state.messages.push(message)
  await ports.record?.(message)
  return ports.isDone?.(calls, results) ? { end: 'answered' } : undefined
}

/** The answer as it is sent back: the same blocks, without those that the API produces and does not accept. Undefined if none is left. */
function answerText(json: JsonText): JsonText | undefined {
  const blocks = splitArray(findMember(json, 'content') ?? '[]').filter((text) => {
    const parsed = parseBlock(JSON.parse(text))
    return !(parsed.ok && isBlank(parsed.value))
  })
  return blocks.length === 0 ? undefined : `{"role":"assistant","content":[${blocks.join(',')}]}`
}

function resultsText(calls: readonly ForkCall[], results: readonly CallResult[]): JsonText {
  const content = calls.map(({ use }, i) => {
    const result = results[i] ?? { content: 'This call was not run.', isError: true }
    return {
      type: 'tool_result',
      tool_use_id: use.id,
      content: result.content,
      is_error: result.isError === true ? true : undefined,
    }
  })
  return JSON.stringify({ role: 'user', content })
}

function textOf({ content }: MessagesResponse): string {
  return content.flatMap((block) => (isBlock(block, 'text') ? [block.text] : [])).join('')
}
