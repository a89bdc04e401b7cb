import type { Context } from '../../context/library/create-context.ts'
import type { PrepareInput } from '../../context/owner-prefix.ts'
import { drive } from '../../drive.ts'
import { ProviderError } from '../../errors.ts'
import { collectResponse } from '../../loop/answers/collect-response.ts'
import type { TraceEvent } from '../../ports.ts'
import { isJsonObject } from '../../wire/json.ts'
import { EXTENDED_WINDOW_BETA, toModelName } from '../../wire/model-facts.ts'
import { parseStreamEvent } from '../../wire/parse.ts'
import type { StreamEvent } from '../../wire/stream-event.ts'
import type { Conversations, HeldConversation } from '../conversations.ts'

// A middleware of the SDK: it sees each HTTP request of the client in the form of the Messages API, whichever method made it and whichever
// backend answers. Requests for messages are prepared, answers observed, and refusals because of size recovered once. Everything else
// passes.

/** What we read of the SDK's request. */
export interface SentRequest {
  readonly url: string
  readonly method?: string | undefined
  readonly headers?: unknown
  readonly body?: unknown
  readonly signal?: unknown
}

/** What we read of the context that the SDK passes to its middleware. */
export interface RequestContext {
  readonly parse: (response: Response) => Promise<unknown>
}

type Next = (request: SentRequest) => Promise<Response>
type Middleware = (request: SentRequest, next: Next, context: RequestContext) => Promise<Response>

/** A request header with the name of its conversation. It is not sent. */
export const CONVERSATION_HEADER = 'x-palimpsest-conversation'

export interface ManageSetup {
  readonly conversations: Conversations
  readonly conversation: string | undefined
  readonly onTrace: ((event: TraceEvent) => void) | undefined
}

export function manageRequests(setup: ManageSetup): Middleware {
  return async (request, next, context) => {
    const headers = request.headers instanceof Headers ? request.headers : new Headers()
    const name = headers.get(CONVERSATION_HEADER) ?? setup.conversation
    headers.delete(CONVERSATION_HEADER)
    const body = bodyOf(request)
    if (!body) return await next(request)
    if (isJsonObject(body.thread)) return await withThread(request, next, headers)
    const betas = (headers.get('anthropic-beta') ?? '').split(',').filter((beta) => beta !== '')
    const model = toModelName(
      body.model,
      betas.filter((beta) => beta === EXTENDED_WINDOW_BETA),
    )
    const conversation = await setup.conversations.take({ messages: body.messages, model, name })
    const exchange = { conversation, request, next, context }
    return await exchanged(exchange, { ...body, model, betas }, setup.onTrace)
  }
}

interface MessagesBody extends PrepareInput {
  readonly model: string
  readonly stream?: boolean
  readonly thread?: unknown
}

/** Undefined for a request that does not ask for an answer to messages. */
function bodyOf({ url, method, body }: SentRequest): MessagesBody | undefined {
  if (method?.toLowerCase() !== 'post' || typeof body !== 'string') return undefined
  if (!new URL(url).pathname.endsWith('/v1/messages')) return undefined
  const parsed: unknown = JSON.parse(body)
  return isMessagesBody(parsed) ? parsed : undefined
}

function isMessagesBody(body: unknown): body is MessagesBody {
  return (
    isJsonObject(body) &&
    Array.isArray(body['messages']) &&
    body['messages'].every(isJsonObject) &&
    typeof body['model'] === 'string' &&
    typeof body['max_tokens'] === 'number'
  )
}

/**
 * A conversation that the server keeps belongs to the server. The tool runner lets it keep one only if it can: when refused, the runner
 * sends its whole history each time, and that is managed.
 */
async function withThread(request: SentRequest, next: Next, headers: Headers): Promise<Response> {
  if (!headers.get('x-stainless-helper')?.includes('BetaToolRunner')) return await next(request)
  const details = { error_code: 'thread_unsupported_request', unsupported: ['palimpsest'] }
  return refusalOf('Palimpsest keeps this conversation, so the server does not.', details)
}

/** Refuses a request the way the server does, so that the client throws the error that its caller knows. */
function refusalOf(message: string, details?: object): Response {
  const body = { type: 'error', error: { type: 'invalid_request_error', message, details } }
  return Response.json(body, { status: 400, headers: { 'x-should-retry': 'false' } })
}

interface Exchange {
  readonly conversation: HeldConversation
  readonly request: SentRequest
  readonly next: Next
  readonly context: RequestContext
}

async function exchanged(
  { conversation, request, next, context }: Exchange,
  input: MessagesBody & { readonly betas: readonly string[] },
  onTrace: ManageSetup['onTrace'],
): Promise<Response> {
  const { context: managed, release } = conversation
  let isLate = false
  try {
    const send = async (prepared: object): Promise<Response> =>
      await next({ ...request, body: printed(prepared) })
    const prepared = await preparedFor(managed, input, request, onTrace)
    if (!prepared) return await next(request)
    if (prepared instanceof ProviderError) return refusalOf(prepared.message)
    const first = await send(prepared)
    const response = first.ok ? first : await recovered(first, managed, send, context)
    if (!response.ok) return response
    if (input.stream !== true) {
      await observeWhole(managed, await context.parse(response), onTrace)
      return response
    }
    // The caller reads while we observe.
    isLate = true
    const events = await context.parse(response)
    void observeStream(managed, events, onTrace).finally(release)
    return response
  } finally {
    if (!isLate) release()
  }
}

/** Undefined if we fail: the request then goes unchanged. An error if no request that fits the window is possible. */
async function preparedFor(
  managed: Context,
  input: MessagesBody,
  { signal }: SentRequest,
  onTrace: ManageSetup['onTrace'],
): Promise<object | undefined> {
  try {
    const { request } = await managed.prepare(input, signal instanceof AbortSignal ? { signal } : {})
    return request
  } catch (error) {
    if (signal instanceof AbortSignal) signal.throwIfAborted()
    if (error instanceof ProviderError) return error
    onTrace?.({ name: 'request-unmanaged', reason: error instanceof Error ? error.message : String(error) })
    return undefined
  }
}

/** `betas` are a header, not part of this body. */
function printed(request: object): string {
  const { betas: _, ...body } = { betas: undefined, ...request }
  return JSON.stringify(body)
}

/** Tries once. What cannot be made smaller, or was refused for another reason, is for the client to throw. */
async function recovered(
  refused: Response,
  managed: Context,
  send: (prepared: object) => Promise<Response>,
  context: RequestContext,
): Promise<Response> {
  if (refused.status !== 400 && refused.status !== 413) return refused
  const error = await context.parse(refused)
  const smaller = await managed.recover(error).catch(() => undefined)
  return smaller ? await send(smaller.request) : refused
}

async function observeWhole(
  managed: Context,
  answer: unknown,
  onTrace: ManageSetup['onTrace'],
): Promise<void> {
  if (typeof answer !== 'object' || answer === null) return
  try {
    await managed.observe(answer)
  } catch (error) {
    unobserved(error, onTrace)
  }
}

/** The caller has the answer, or the error: if it is not observed, the next request estimates it. */
function unobserved(error: unknown, onTrace: ManageSetup['onTrace']): void {
  onTrace?.({ name: 'answer-unobserved', reason: error instanceof Error ? error.message : String(error) })
}

async function observeStream(
  managed: Context,
  events: unknown,
  onTrace: ManageSetup['onTrace'],
): Promise<void> {
  try {
    if (!isIterable(events)) return
    const { json } = await drive(collectResponse(readEvents(events)))
    const answer: unknown = JSON.parse(json)
    await observeWhole(managed, answer, onTrace)
  } catch (error) {
    unobserved(error, onTrace)
  }
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

async function* readEvents(events: AsyncIterable<unknown>): AsyncGenerator<StreamEvent> {
  for await (const event of events) {
    const parsed = parseStreamEvent(event)
    if (parsed.ok && parsed.value.type !== 'other') yield parsed.value
  }
}
