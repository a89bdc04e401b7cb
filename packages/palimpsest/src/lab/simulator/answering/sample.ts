import type { Cache, CacheCharge, CacheRequest } from '../../../ledger/cache.ts'
import { priceOf, type BilledTokens } from '../../../ledger/prices.ts'
import { answerOffline } from '../../offline/answer-offline.ts'
import type { Block } from '../../../wire/message.ts'
import type { MessagesRequest } from '../../../wire/request.ts'
import type { MessagesResponse, StopReason } from '../../../wire/response.ts'
import { finishBlocks, type Finished } from './finish-blocks.ts'
import { hasBeta } from '../headers.ts'
import type { Accepted } from '../judge.ts'
import { isScriptBlock, type ScriptBlock, type ScriptStep } from './script.ts'
import { newId, type State } from '../state.ts'
import { BETA_GATES } from '../switches.ts'
import type { SimulatedUsage } from './usage.ts'

// What all ways of answering share: the draft, its limits, the response around it.

export interface Sampled {
  readonly response: MessagesResponse
  /** Charges whose writes become readable when the response begins. */
  readonly charges: readonly CacheCharge[]
  readonly billed: readonly BilledTokens[]
  readonly costUsd: number
  readonly cacheRequest: CacheRequest
  /** Whether the limit cut off the last block. */
  readonly isCut: boolean
}

/** What samplers share. */
export interface Sampling {
  readonly state: State
  readonly accepted: Accepted
  readonly cache: Cache
  readonly step: ScriptStep | undefined
}

/** The answer to what the model sees, cut to what fits. */
export function finishAnswer(sampling: Sampling, seen: MessagesRequest, inputTokens: number): Finished {
  const { state, accepted, step } = sampling
  const { request, window, facts, caller } = accepted
  const room = Math.max(0, window - inputTokens)
  return finishBlocks({
    draft: request.max_tokens === 0 ? [] : draftOf(step, seen),
    stopReason: request.max_tokens === 0 ? 'max_tokens' : step?.stop_reason,
    stopSequences: request.stop_sequences ?? [],
    counter: accepted.counter,
    chain: accepted.binding.chain,
    key: state.settings.key,
    origin: { model: facts.id, account: caller.account },
    newToolId: (type) => newId(state, type === 'tool_use' ? 'toolu' : 'srvtoolu'),
    thinking: thinkingOf(accepted),
    tokensMax: Math.min(request.max_tokens, room),
    fullReason: room < request.max_tokens ? 'model_context_window_exceeded' : 'max_tokens',
  })
}

function draftOf(step: ScriptStep | undefined, seen: MessagesRequest): readonly ScriptBlock[] {
  if (step) return step.content
  const format = seen.output_config?.format ?? seen.output_format
  return answerOffline({ messages: seen.messages, schema: format?.schema })
    .content.map(({ type, text }) => ({ type, text }))
    .filter(isScriptBlock)
}

/** Models that cannot switch thinking off think by default. */
function thinkingOf({ request, facts }: Accepted): 'off' | 'shown' | 'omitted' {
  const { thinking } = request
  if (!thinking) return facts.thinking.modes.includes('disabled') ? 'off' : 'shown'
  if (thinking.type === 'disabled') return 'off'
  return 'display' in thinking && thinking.display === 'omitted' ? 'omitted' : 'shown'
}

export function costOf({ facts }: Accepted, billed: readonly BilledTokens[]): number {
  return billed.reduce((sum, tokens) => sum + priceOf(tokens, facts.prices), 0)
}

export function toResponse(
  { state, accepted }: Sampling,
  answer: {
    readonly content: readonly Block[]
    readonly stopReason: StopReason
    readonly stopSequence: string | null
  },
  usage: SimulatedUsage,
): MessagesResponse {
  const { request, caller, binding, applied } = accepted
  const tellsTransformations = hasBeta(caller.betas, BETA_GATES.blockBinding)
  return {
    id: newId(state, 'msg'),
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: answer.content,
    stop_reason: answer.stopReason,
    stop_sequence: answer.stopSequence,
    usage,
    ...(request.context_management ? { context_management: { applied_edits: applied } } : {}),
    ...(tellsTransformations ? { input_transformations: binding.transformations } : {}),
  }
}
