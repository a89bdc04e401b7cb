import { ProviderError } from '../errors.ts'
import type { ModelEvent, ModelRequest, StreamModel } from '../ports.ts'
import { overflowFailure, parseOverflow } from '../tokens/overflow.ts'
import { isJsonObject } from '../wire/json.ts'
import { parseResponse } from '../wire/parse.ts'
import type { MessagesResponse } from '../wire/response.ts'
import { problemText } from '../wire/shape.ts'

// The owner's `send`, as the engine asks a model: a whole answer, passed on as a stream that came at once.

export interface SendOptions {
  readonly signal: AbortSignal
  /** `x-palimpsest-source` says which of our own calls it is. */
  readonly headers: { readonly [name: string]: string }
}

/** Sends one request and returns the whole answer. */
export type Send = (request: { readonly [member: string]: unknown }, options: SendOptions) => Promise<unknown>

/** Marks our own requests in the log of a proxy or simulator. */
const SOURCE_HEADER = 'x-palimpsest-source'

export function sendModel(send: Send): StreamModel {
  return async function* stream(request, signal): AsyncGenerator<ModelEvent> {
    yield* eventsOf(await answerTo(request, send, signal))
  }
}

async function answerTo(request: ModelRequest, send: Send, signal: AbortSignal): Promise<MessagesResponse> {
  const { body, betas, source } = request
  const parsed: unknown = JSON.parse(body)
  const { stream: _, ...members } = isJsonObject(parsed) ? parsed : {}
  const beta = betas.length > 0 ? { 'anthropic-beta': betas.join() } : {}
  let answer: unknown
  try {
    answer = await send(members, { signal, headers: { [SOURCE_HEADER]: source, ...beta } })
  } catch (cause) {
    signal.throwIfAborted()
    throw asProviderError(cause)
  }
  const response = parseResponse(answer)
  if (response.ok) return response.value
  const problem = problemText(response.problem)
  throw new ProviderError(
    { kind: 'bad-output' },
    `\`send\` returned something other than an answer: ${problem}.`,
  )
}

/** The sender decides about retries, so only errors about the size keep their kind. */
function asProviderError(cause: unknown): ProviderError {
  const overflow = findOverflow(cause)
  const said = cause instanceof Error ? cause.message : String(cause)
  const failure = overflow ? overflowFailure(overflow) : ({ kind: 'transport' } as const)
  return new ProviderError(failure, `\`send\` failed: ${said}`, { cause })
}

/** In an error of the SDK, in one of ours, or in their text. */
export function findOverflow(error: unknown): ReturnType<typeof parseOverflow> {
  if (typeof error !== 'object' || error === null) return parseOverflow(error)
  const body = 'error' in error ? parseOverflow(error.error) : undefined
  const said = error instanceof Error ? error.message : undefined
  return body ?? parseOverflow(said ?? error)
}

function* eventsOf(response: MessagesResponse): Generator<ModelEvent> {
  yield { type: 'message_start', message: { ...response, content: [] } }
  for (const [index, block] of response.content.entries()) {
    yield { type: 'content_block_start', index, content_block: block }
    yield { type: 'content_block_stop', index }
  }
  const { stop_reason, stop_sequence, usage } = response
  yield { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage }
  yield { type: 'message_stop' }
}
