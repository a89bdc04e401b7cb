import { ProviderError, UsageError } from '../../errors.ts'
import type { ModelEvent, ModelRequest, StreamModel } from '../../ports.ts'
import type { JsonText } from '../../wire/json.ts'
import { parseRequest } from '../../wire/parse.ts'
import type { MessagesRequest } from '../../wire/request.ts'
import { problemText } from '../../wire/shape.ts'
import { createPatience, IDLE_MS_MAX, stalled } from '../patience.ts'
import type { ChatModel } from './chat-model.ts'
import { toChatCall } from './to-chat-call.ts'
import { toChatError } from './to-chat-error.ts'
import { toStreamEvents } from './to-stream-events.ts'

// Chat completions (Ollama, vLLM, llama.cpp, OpenRouter and others) behind the Messages API. The AI SDK knows address, headers and the
// stream; what is said and how often it is asked is ours. It is loaded with the first request, never on the way to a prompt.

export interface AiSdkOptions {
  /** With its version: `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  /** Sent as a bearer token. Local servers want none. */
  readonly apiKey?: string
  /** What to do where the key is refused. */
  readonly keyCure?: string
  /** The name the server knows the model by; without it, the one of the request. */
  readonly modelName?: (model: string) => string
  readonly headers?: { readonly [name: string]: string }
  readonly fetch?: typeof fetch
  readonly idleMsMax?: number
}

const KEY_CURE = 'Check the key.'

export function createAiSdkModel(options: AiSdkOptions): StreamModel {
  let load: Promise<LoadModel> | undefined
  const idleMsMax = options.idleMsMax ?? IDLE_MS_MAX
  return async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    load ??= loadSdk(options)
    const model = (await load)(options.modelName?.(request.model) ?? request.model)
    const wire = readRequest(request.body)
    const patience = createPatience(idleMsMax, signal)
    try {
      const call = toChatCall(wire)
      const { stream: parts } = await model.doStream({ ...call, abortSignal: patience.signal })
      yield* toStreamEvents(patience.watch(parts), { request: wire, body: request.body })
    } catch (error) {
      signal.throwIfAborted()
      if (patience.ranOut()) throw stalled(idleMsMax, error)
      throw toChatError(error, options.keyCure ?? KEY_CURE)
    } finally {
      patience.end()
    }
  }
}

type LoadModel = (name: string) => ChatModel

/** What fails here fails again: it is told at once, not asked again. */
async function loadSdk(options: AiSdkOptions): Promise<LoadModel> {
  const { baseUrl, apiKey, headers } = options
  try {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const provider = createOpenAICompatible({
      name: 'server',
      baseURL: baseUrl,
      // Without it most servers report no usage in a stream.
      includeUsage: true,
      fetch: streamsOnly(options.fetch ?? fetch),
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(headers === undefined ? {} : { headers: { ...headers } }),
    })
    return (name) => provider.chatModel(name)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`@ai-sdk/openai-compatible cannot be used: ${why}. Install it`, { cause })
  }
}

/** An answer that is no event stream is told apart here, so that nobody parses a login page. */
function streamsOnly(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init)
    const type = response.headers.get('content-type') ?? 'no content type'
    if (!response.ok || type.startsWith('text/event-stream')) return response
    throw new ProviderError(
      { kind: 'bad-output' },
      `${hostOf(response.url)} answered with ${type}, not with a stream of events. Check the base URL: it mostly ends in /v1.`,
    )
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'The server'
}

/** What the Messages API answers in such a case. */
const INVALID_STATUS = 400

function readRequest(body: JsonText): MessagesRequest {
  const parsed = parseRequest(JSON.parse(body))
  if (parsed.ok) return parsed.value
  throw new ProviderError(
    { kind: 'invalid-request', status: INVALID_STATUS },
    `The request is not one: ${problemText(parsed.problem)}`,
  )
}
