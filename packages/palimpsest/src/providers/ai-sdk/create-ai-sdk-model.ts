import type { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ProviderError, UsageError } from '../../errors.ts'
import type { ModelEvent, ModelRequest, StreamModel } from '../../ports.ts'
import type { JsonText } from '../../wire/json.ts'
import { parseRequest } from '../../wire/parse.ts'
import type { MessagesRequest } from '../../wire/request.ts'
import { problemText } from '../../wire/shape.ts'
import type { Cures } from '../api-failure.ts'
import type { AnswerTimesWishes } from '../bounds/answer-limits.ts'
import { boundedFetch } from '../bounds/bounded-fetch.ts'
import { createPatience, type Patience } from '../bounds/patience.ts'
import type { ChatModel } from './chat-model.ts'
import { toChatCall } from './to-chat-call.ts'
import { toChatError } from './to-chat-error.ts'
import { toStreamEvents } from './to-stream-events.ts'

// Chat completions (Ollama, vLLM, llama.cpp, OpenRouter and others) behind the Messages API. The AI SDK handles address, headers and the
// stream; what is sent and how often it is retried is ours. It is loaded with the first request, so that it does not delay the start.

export interface AiSdkOptions {
  /** Including its version: `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string
  /** Sent as a bearer token. Local servers need none. */
  readonly apiKey?: string | undefined
  /** What the user should do if the key is refused. */
  readonly keyCure?: string
  /** Returns the server's name for a model. Absent: the name in the request. */
  readonly modelName?: (model: string) => string
  readonly headers?: { readonly [name: string]: string }
  readonly fetch?: typeof fetch
  /** How long to wait for an answer. Absent: the defaults. */
  readonly times?: AnswerTimesWishes
  /** What the user should do if nothing listens at the address. */
  readonly reachCure?: string
}

const KEY_CURE = 'Check the key.'
const REACH_CURE = 'Start the server there, or check the base URL.'
const STREAM_CURE = 'Check the base URL: it usually ends in /v1.'

export function createAiSdkModel(options: AiSdkOptions): StreamModel {
  let sdk: Promise<CreateProvider> | undefined
  const cures: Cures = {
    key: options.keyCure ?? KEY_CURE,
    reach: options.reachCure ?? REACH_CURE,
    url: options.baseUrl,
  }
  return async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    sdk ??= loadSdk()
    const create = await sdk
    const wire = readRequest(request.body)
    const patience = createPatience(options.times ?? {}, signal)
    try {
      const model = modelFor(create, request.model, options, patience)
      const { stream: parts } = await model.doStream({ ...toChatCall(wire), abortSignal: patience.signal })
      yield* toStreamEvents(progressing(parts, patience), { request: wire, body: request.body })
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof UsageError) throw error
      throw patience.ranOut(error) ?? toChatError(error, cures)
    } finally {
      patience.end()
    }
  }
}

type CreateProvider = typeof createOpenAICompatible

/** A failure here would repeat, so it is reported at once and not retried. */
async function loadSdk(): Promise<CreateProvider> {
  try {
    return (await import('@ai-sdk/openai-compatible')).createOpenAICompatible
  } catch (cause) {
    throw unusable(cause)
  }
}

/** A new one per request, because the bounds of the answer belong to it. */
function modelFor(
  create: CreateProvider,
  name: string,
  options: AiSdkOptions,
  patience: Patience,
): ChatModel {
  const { baseUrl, apiKey, headers } = options
  try {
    const provider = create({
      name: 'server',
      baseURL: baseUrl,
      // Without this, most servers report no usage in a stream.
      includeUsage: true,
      fetch: boundedFetch(options.fetch ?? fetch, patience, STREAM_CURE),
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(headers === undefined ? {} : { headers: { ...headers } }),
    })
    return provider.chatModel(options.modelName?.(name) ?? name)
  } catch (cause) {
    throw unusable(cause)
  }
}

function unusable(cause: unknown): UsageError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new UsageError(`@ai-sdk/openai-compatible cannot be used: ${why}. Install it`, { cause })
}

/** Every part counts as progress; keep-alives never become parts. */
async function* progressing<T>(parts: ReadableStream<T>, patience: Patience): AsyncGenerator<T> {
  for await (const part of parts) {
    patience.progressed()
    yield part
  }
}

/** The status with which the Messages API answers in this case. */
const INVALID_STATUS = 400

function readRequest(body: JsonText): MessagesRequest {
  const parsed = parseRequest(JSON.parse(body))
  if (parsed.ok) return parsed.value
  throw new ProviderError(
    { kind: 'invalid-request', status: INVALID_STATUS },
    `The request is not valid: ${problemText(parsed.problem)}`,
  )
}
