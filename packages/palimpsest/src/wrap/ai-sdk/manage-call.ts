import type { PrepareInput } from '../../context/owner-prefix.ts'
import { ProviderError } from '../../errors.ts'
import type { TraceEvent } from '../../ports.ts'
import type { Conversations } from '../conversations.ts'
import type { AiMessage, AiPart } from './ai-message.ts'
import { fromWire } from './from-wire.ts'
import { toAnswer, type AiUsage } from './to-answer.ts'
import { toWire } from './to-wire.ts'

/** What we read of a call of a language model. */
export interface CallParams {
  readonly prompt: readonly AiMessage[]
  readonly maxOutputTokens?: number | undefined
  readonly tools?: readonly object[] | undefined
  readonly abortSignal?: AbortSignal | undefined
}

/** One call of the model on its way through a context. */
export interface ManagedCall<Params> {
  /** Sends what was prepared; after a refusal because of size, sends something smaller, once. */
  readonly answered: <Result>(send: (params: Params) => Promise<Result>) => Promise<Result>
  readonly observe: (parts: readonly object[], usage: AiUsage, id: string | undefined) => Promise<void>
  /** Call when the call has ended, in whichever way. */
  readonly release: () => void
}

/** If the caller gives no number, the provider's adapter has one of its own. */
const OUTPUT_TOKENS = 4_096

export interface CallSetup {
  readonly conversations: Conversations
  readonly model: string
  readonly name: string | undefined
  readonly onTrace: ((event: TraceEvent) => void) | undefined
}

export async function manageCall<Params extends CallParams>(
  params: Params,
  { conversations, model, name, onTrace }: CallSetup,
): Promise<ManagedCall<Params>> {
  const { system, messages } = toWire(params.prompt)
  const { context, release } = await conversations.take({ messages, model, name })
  const asked = params.maxOutputTokens ?? OUTPUT_TOKENS
  const input: PrepareInput = { model, system, messages, tools: toolsOf(params), max_tokens: asked }
  const signal = params.abortSignal && { signal: params.abortSignal }
  const failed = (what: string, error: unknown): undefined => {
    params.abortSignal?.throwIfAborted()
    // No request that fits the window is possible.
    if (error instanceof ProviderError) throw error
    onTrace?.({ name: what, reason: error instanceof Error ? error.message : String(error) })
  }
  return {
    answered: async (send) => {
      // If we fail, the prompt goes unchanged.
      const prepared = await context
        .prepare(input, signal)
        .catch((error: unknown) => failed('request-unmanaged', error))
      if (!prepared) return await send(params)
      try {
        return await send(withPrompt(params, prepared.request, asked))
      } catch (error) {
        // A refusal for another reason, or of what cannot be made smaller, is thrown as it came.
        const { request: smaller } = await context.recover(error, signal).catch(() => {
          throw error
        })
        return await send(withPrompt(params, smaller, asked))
      }
    },
    observe: async (parts, usage, id = crypto.randomUUID()) => {
      const said = parts.map(asPrompted)
      const callsTools = said.some((part) => 'type' in part && part.type === 'tool-call')
      const answer = toAnswer(said, { id, model, usage, callsTools })
      // The caller has the answer: if it is not observed, the next request estimates it.
      if (answer) await context.observe(answer).catch((error: unknown) => failed('answer-unobserved', error))
    },
    release,
  }
}

interface PreparedRequest {
  readonly messages: readonly unknown[]
  readonly system?: readonly unknown[]
  readonly max_tokens: number
}

function withPrompt<Params extends CallParams>(
  params: Params,
  { messages, system, max_tokens: most }: PreparedRequest,
  asked: number,
): Params {
  const shorter = most < asked ? { maxOutputTokens: most } : {}
  return { ...params, ...shorter, prompt: fromWire(messages, system) }
}

function toolsOf({ tools = [] }: CallParams): readonly object[] {
  return tools.map((tool) => ({
    name: 'name' in tool ? tool.name : '',
    description: 'description' in tool ? tool.description : '',
    input_schema: 'inputSchema' in tool ? tool.inputSchema : {},
  }))
}

/** What a model said, in the form of the next prompt. */
function asPrompted(part: object): object {
  const { providerMetadata, ...rest }: { providerMetadata?: unknown } & Partial<AiPart> = part
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata }
  const input = typeof rest.input === 'string' ? { input: parsed(rest.input) } : {}
  return { ...rest, ...input, ...options }
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    // The SDK tells the model that it is not JSON; the text stays as it is.
    return text
  }
}
