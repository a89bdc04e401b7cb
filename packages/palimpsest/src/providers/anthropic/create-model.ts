import type Anthropic from '@anthropic-ai/sdk'
import { UsageError } from '../../errors.ts'
import type { ModelEvent, ModelRequest, StreamModel } from '../../ports.ts'
import type { Cures } from '../api-failure.ts'
import type { AnswerTimesWishes } from '../bounds/answer-limits.ts'
import { boundedAnswer, boundedFetch } from '../bounds/bounded-fetch.ts'
import { createPatience, unlessAborted, type Patience } from '../bounds/patience.ts'
import { readEvents, toStreamEvent } from './read-events.ts'
import { toProviderError } from './to-provider-error.ts'

// The Messages API through the vendor's SDK, which handles addresses, keys and headers. The body is ours, byte for byte, and so are
// retries: the SDK's are off. The SDK is loaded with the first request, so that it does not delay the start.

/** The part of an SDK client that we use, of either major version: its address, key, headers and `fetch` apply. */
export interface MessagesClient {
  /** Only errors name it. */
  readonly baseURL?: string
  readonly post: (path: string, options: MessagesPost) => { readonly asResponse: () => Promise<Response> }
}

interface MessagesPost {
  readonly body: string
  readonly headers: { readonly [name: string]: string }
  readonly signal: AbortSignal
  readonly stream: true
  /** The caller decides about retries. */
  readonly maxRetries: 0
}

export interface AnthropicOptions {
  /** An existing client. Absent: one is created from the options below. */
  readonly client?: MessagesClient
  readonly apiKey?: string
  readonly authToken?: string
  readonly baseUrl?: string | undefined
  /** In addition to the SDK's headers, some of which come from its environment; null removes one. */
  readonly headers?: { readonly [name: string]: string | null }
  readonly fetch?: typeof fetch
  /** How long to wait for an answer. Absent: the defaults. */
  readonly times?: AnswerTimesWishes
  /** What the user should do if nothing listens at the address. */
  readonly reachCure?: string
}

const STANDARD_URL = 'https://api.anthropic.com'
const KEY_CURE = 'Set ANTHROPIC_API_KEY to a valid key.'
const ADDRESS_CURE = 'Check the base URL.'
const REACH_CURE = 'Start the server there, or check the base URL.'

export function createAnthropicModel(options: AnthropicOptions): StreamModel {
  let sdk: Promise<typeof Anthropic> | undefined
  const cures: Cures = {
    key: KEY_CURE,
    reach: options.reachCure ?? REACH_CURE,
    url: options.baseUrl ?? options.client?.baseURL ?? STANDARD_URL,
  }
  return async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const Client = options.client ? undefined : await (sdk ??= loadSdk())
    const patience = createPatience(options.times ?? {}, signal)
    try {
      const response = await answerOf(request, Client, options, patience)
      const requestId = response.headers.get('request-id')
      if (requestId !== null) yield { type: 'request_id', requestId }
      for await (const event of readEvents(response.body ?? [])) {
        const parsed = toStreamEvent(event)
        if (!parsed) continue
        if (parsed.type !== 'ping') patience.progressed()
        yield parsed
        // Anything else on this connection is not part of the answer, so we do not wait for it.
        if (parsed.type === 'message_stop') return
      }
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof UsageError) throw error
      throw patience.ranOut(error) ?? toProviderError(error, cures)
    } finally {
      patience.end()
    }
  }
}

/** Uses the caller's own client, or one that is created for this request. */
async function answerOf(
  request: ModelRequest,
  Client: typeof Anthropic | undefined,
  options: AnthropicOptions,
  patience: Patience,
): Promise<Response> {
  if (options.client)
    return await boundedAnswer(await send(options.client, request, patience.signal), patience, ADDRESS_CURE)
  if (!Client) throw new Error('unreachable: without a client the SDK is loaded')
  const bounded = boundedFetch(options.fetch ?? fetch, patience, ADDRESS_CURE)
  return await send(createClient(Client, options, bounded), request, patience.signal)
}

/** A failure here would repeat, so it is reported at once and not retried. */
export async function loadSdk(): Promise<typeof Anthropic> {
  try {
    const { default: Client } = await import('@anthropic-ai/sdk')
    return Client
  } catch (cause) {
    throw unusable(cause)
  }
}

/** A new one per request, because the bounds of the answer belong to its `fetch`. */
export function createClient(
  Client: typeof Anthropic,
  options: AnthropicOptions,
  bounded: typeof fetch,
): Anthropic {
  try {
    return new Client({
      apiKey: options.apiKey ?? null,
      authToken: options.authToken ?? null,
      maxRetries: 0,
      fetch: bounded,
      ...(options.baseUrl === undefined ? {} : { baseURL: options.baseUrl }),
      ...(options.headers === undefined ? {} : { defaultHeaders: options.headers }),
    })
  } catch (cause) {
    throw unusable(cause)
  }
}

function unusable(cause: unknown): UsageError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new UsageError(`@anthropic-ai/sdk cannot be used: ${why}. Install it, and check keys and base URL`, {
    cause,
  })
}

async function send(client: MessagesClient, request: ModelRequest, signal: AbortSignal): Promise<Response> {
  const betas = request.betas.length > 0 ? { 'anthropic-beta': request.betas.join(',') } : {}
  // Distinguishes our own requests in the log of a proxy or simulator.
  const source = request.source === 'main' ? {} : { 'x-palimpsest-source': request.source }
  signal.throwIfAborted()
  const answer = client
    .post('/v1/messages', {
      body: request.body,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...betas, ...source },
      signal,
      stream: true,
      maxRetries: 0,
    })
    .asResponse()
  // The caller's own `fetch` may ignore the signal: ending a turn must not wait for it.
  return await unlessAborted(answer, signal)
}
