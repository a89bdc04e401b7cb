import type Anthropic from '@anthropic-ai/sdk'
import { ProviderError, UsageError } from '../../errors.ts'
import type { ModelEvent, ModelRequest, StreamModel } from '../../ports.ts'
import { parseStreamEvent } from '../../wire/parse.ts'
import type { StreamEvent } from '../../wire/stream-event.ts'
import { problemText } from '../../wire/shape.ts'
import { createPatience, IDLE_MS_MAX, stalled } from '../patience.ts'
import { readEvents, type ServerEvent } from './read-events.ts'
import { toProviderError } from './to-provider-error.ts'

// The Messages API through the vendor's SDK: it knows addresses, keys and headers. The body is ours, byte for byte, and so are
// retries: the SDK's are off. The SDK is loaded with the first request, never on the way to a prompt.

export interface AnthropicOptions {
  readonly apiKey?: string
  readonly authToken?: string
  readonly baseUrl?: string
  /** Beside those of the SDK, which takes some from its environment; null leaves one out. */
  readonly headers?: { readonly [name: string]: string | null }
  readonly fetch?: typeof fetch
  readonly idleMsMax?: number
}

export function createAnthropicModel(options: AnthropicOptions): StreamModel {
  let client: Promise<Anthropic> | undefined
  return async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    client ??= loadClient(options)
    const loaded = await client
    const patience = createPatience(options.idleMsMax ?? IDLE_MS_MAX, signal)
    try {
      const response = await send(loaded, request, patience.signal)
      const requestId = response.headers.get('request-id')
      if (requestId !== null) yield { type: 'request_id', requestId }
      for await (const event of readEvents(patience.watch(bodyOf(response)))) {
        const parsed = toStreamEvent(event)
        if (parsed) yield parsed
      }
    } catch (error) {
      signal.throwIfAborted()
      if (patience.ranOut()) throw stalled(options.idleMsMax ?? IDLE_MS_MAX, error)
      throw toProviderError(error)
    } finally {
      patience.end()
    }
  }
}

/** What fails here fails again: it is told at once, not asked again. */
export async function loadClient(options: AnthropicOptions): Promise<Anthropic> {
  try {
    const { default: Client } = await import('@anthropic-ai/sdk')
    return new Client({
      apiKey: options.apiKey ?? null,
      authToken: options.authToken ?? null,
      maxRetries: 0,
      ...(options.baseUrl === undefined ? {} : { baseURL: options.baseUrl }),
      ...(options.headers === undefined ? {} : { defaultHeaders: options.headers }),
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(
      `@anthropic-ai/sdk cannot be used: ${why}. Install it, and check keys and base URL`,
      {
        cause,
      },
    )
  }
}

async function send(client: Anthropic, request: ModelRequest, signal: AbortSignal): Promise<Response> {
  const betas = request.betas.length > 0 ? { 'anthropic-beta': request.betas.join(',') } : {}
  // Tells requests of our own making apart in a proxy's or simulator's log.
  const source = request.source === 'main' ? {} : { 'x-palimpsest-source': request.source }
  return await client
    .post('/v1/messages', {
      body: request.body,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...betas, ...source },
      signal,
      stream: true,
    })
    .asResponse()
}

/** An answer that is no event stream is told apart here, so that nobody parses a login page. */
function bodyOf(response: Response): ReadableStream<Uint8Array> {
  const type = response.headers.get('content-type') ?? 'no content type'
  if (!type.startsWith('text/event-stream') || !response.body)
    throw new ProviderError(
      { kind: 'bad-output' },
      `${hostOf(response.url)} answered with ${type}, not with a stream of events. Check the base URL.`,
    )
  return response.body
}

function toStreamEvent({ data }: ServerEvent): StreamEvent | undefined {
  const parsed = parseStreamEvent(parseJson(data))
  if (!parsed.ok)
    throw new ProviderError(
      { kind: 'bad-output' },
      `The answer holds an event that is none: ${problemText(parsed.problem)}`,
    )
  return parsed.value.type === 'other' ? undefined : parsed.value
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new ProviderError({ kind: 'bad-output' }, 'The answer holds an event that is not JSON.', { cause })
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'The server'
}
