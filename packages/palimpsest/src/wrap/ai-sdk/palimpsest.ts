import type { ContextOptions } from '../../context/library/create-context.ts'
import { CONVERSATIONS_MAX, createConversations } from '../conversations.ts'
import { OWN_OPTIONS, type AiMessage } from './ai-message.ts'
import { collectParts, type StreamedPart } from './collect-parts.ts'
import { manageCall, type CallParams, type ManagedCall } from './manage-call.ts'
import { usageOf, type ModelUsage } from './model-usage.ts'

// A middleware for `wrapLanguageModel`: each call of the model is prepared, observed, and, after a refusal because of size, recovered once.
// It sees one call at a time and complete prompts, so it manages every caller of the model: `generateText`, `streamText`, agents.

export interface AiSdkOptions extends Pick<
  ContextOptions,
  'window' | 'store' | 'flags' | 'policy' | 'onTrace'
> {
  /**
   * The model serves a single conversation with this name; a store keeps it under this name. Absent: conversations are distinguished by
   * content.
   */
  readonly conversation?: string | undefined
  /** Most conversations that are remembered at the same time. Absent: 100. */
  readonly conversationsMax?: number | undefined
}

interface Generated {
  readonly content: readonly object[]
  readonly usage: ModelUsage
  readonly response?: { readonly id?: string } | undefined
}

interface Streaming {
  readonly stream: ReadableStream<StreamedPart>
}

/** The middleware that `wrapLanguageModel` of the AI SDK accepts. */
export interface PalimpsestMiddleware {
  readonly specificationVersion: 'v4'
  readonly wrapGenerate: <Params extends CallParams, Result extends Generated>(call: {
    params: Params
    model: { modelId: string; doGenerate(params: Params): PromiseLike<Result> }
  }) => Promise<Result>
  readonly wrapStream: <Params extends CallParams, Result extends Streaming>(call: {
    params: Params
    model: { modelId: string; doStream(params: Params): PromiseLike<Result> }
  }) => Promise<Result>
}

/**
 * Manages the model that you have: prompts fit the window and, if the provider has breakpoints, are read from its cache.
 *
 * @example
 * const model = wrapLanguageModel({ model: anthropic('claude-sonnet-5-5'), middleware: palimpsest({ window: 60_000 }) })
 */
export function palimpsest(options: AiSdkOptions = {}): PalimpsestMiddleware {
  const { conversation: name, conversationsMax, ...open } = options
  const most = conversationsMax ?? CONVERSATIONS_MAX
  const conversations = createConversations({ open, most, onOpen: undefined })
  const begin = async <Params extends CallParams>(
    params: Params,
    model: string,
  ): Promise<ManagedCall<Params> | undefined> =>
    params.prompt.some(isPrepared)
      ? undefined
      : await manageCall(params, { conversations, model, name, onTrace: options.onTrace })
  return {
    specificationVersion: 'v4',
    wrapGenerate: async ({ params, model }) => {
      const call = await begin(params, model.modelId)
      if (!call) return await model.doGenerate(params)
      try {
        const result = await call.answered(async (prepared) => await model.doGenerate(prepared))
        await call.observe(result.content, usageOf(result.usage), result.response?.id)
        return result
      } finally {
        call.release()
      }
    },
    wrapStream: async ({ params, model }) => {
      const call = await begin(params, model.modelId)
      if (!call) return await model.doStream(params)
      try {
        const result = await call.answered(async (prepared) => await model.doStream(prepared))
        const stream = collectParts(result.stream, async (gathered) => {
          if (gathered?.usage) await call.observe(gathered.parts, usageOf(gathered.usage), gathered.id)
          call.release()
        })
        return { ...result, stream }
      } catch (error) {
        call.release()
        throw error
      }
    },
  }
}

/** True if `prepareStep` prepared the prompt already: only one of the two may act. */
function isPrepared({ providerOptions }: AiMessage): boolean {
  return providerOptions?.[OWN_OPTIONS] !== undefined
}
