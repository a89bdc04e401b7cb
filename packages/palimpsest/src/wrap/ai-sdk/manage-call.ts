import type { PrepareInput } from '../../context/owner-prefix.ts'
import type { Conversation, Conversations } from '../conversations.ts'
import type { AiMessage, AiPart } from './ai-message.ts'
import { fromWire } from './from-wire.ts'
import { toAnswer, type AiUsage } from './to-answer.ts'
import { toWire } from './to-wire.ts'

/** Of a call of a language model. */
export interface CallParams {
  readonly prompt: readonly AiMessage[]
  readonly maxOutputTokens?: number | undefined
  readonly tools?: readonly object[] | undefined
  readonly abortSignal?: AbortSignal | undefined
}

/** One call of the model on its way through a context. */
export interface ManagedCall<Params> {
  /** Sends what was prepared; after a refusal because of size, something smaller, once. */
  readonly answered: <Result>(send: (params: Params) => Promise<Result>) => Promise<Result>
  readonly observe: (parts: readonly object[], usage: AiUsage, id: string | undefined) => Promise<void>
  /** The call has come to its end, however it did. */
  readonly release: () => void
}

/** Where the caller asks for no number, the provider's adapter knows one. */
const OUTPUT_TOKENS = 4_096

export async function manageCall<Params extends CallParams>(
  params: Params,
  {
    conversations,
    model,
    name,
  }: { readonly conversations: Conversations; readonly model: string; readonly name: string | undefined },
): Promise<ManagedCall<Params>> {
  const { system, messages } = toWire(params.prompt)
  const conversation = await conversations.take({ messages, model, name })
  const { context } = conversation
  const asked = params.maxOutputTokens ?? OUTPUT_TOKENS
  const input: PrepareInput = { model, system, messages, tools: toolsOf(params), max_tokens: asked }
  const signal = params.abortSignal && { signal: params.abortSignal }
  return {
    answered: async (send) => {
      const { request } = await context.prepare(input, signal)
      try {
        return await send(withPrompt(params, request, asked))
      } catch (error) {
        // What was refused for another reason, or cannot be made smaller, comes back as it was.
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
      if (answer) await context.observe(answer)
    },
    release: beginCall(conversation),
  }
}

/** Until it is released, a request of the conversation is under way. */
export function beginCall(conversation: Conversation): () => void {
  let release: () => void = () => undefined
  conversation.underWay = new Promise((resolve) => {
    release = () => {
      conversation.underWay = undefined
      resolve()
    }
  })
  return release
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

/** What a model said, as the next prompt will have it. */
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
    // The SDK tells the model that it is no JSON; the text stands as it is.
    return text
  }
}
