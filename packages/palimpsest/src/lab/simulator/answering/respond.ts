import { chargeRequest, quoteRequest, type CacheCharge, type CacheRequest } from '../../../ledger/cache.ts'
import { lastUserText } from '../../offline/conversation-text.ts'
import { applyCacheEdits } from '../context/cache-edits.ts'
import { compactOnDemand, compactOverThreshold, thresholdOf } from '../context/compact.ts'
import type { Accepted } from '../judge.ts'
import { refuse, type Refusal } from '../refusal.ts'
import { costOf, finishAnswer, toResponse, type Sampled, type Sampling } from './sample.ts'
import type { ScriptStep } from './script.ts'
import { cacheFor, type State } from '../state.ts'
import { billedOf, usageOf, type SimulatedUsage } from './usage.ts'

// Answers an accepted request: charges it to the cache, samples from the script or the offline model, and signs.

export function respond(state: State, accepted: Accepted, step: ScriptStep | undefined): Sampled | Refusal {
  const { request } = accepted
  const sampling = { state, accepted, cache: cacheFor(state, accepted.caller.workspace), step }
  if (!step && state.settings.switches.pastScript === 'refuse')
    return refuse('http.script-over', { text: lastUserText(request.messages).slice(0, 200) })
  if (request.compaction) return compactOnDemand(sampling)
  const threshold = thresholdOf(request)
  if (threshold && accepted.cacheRequest.prompt.tokens >= threshold.tokens)
    return compactOverThreshold(sampling, threshold)
  return sample(sampling)
}

function sample(sampling: Sampling): Sampled {
  const { accepted } = sampling
  const { cacheRequest, charge, deleted } = chargeWithEdits(sampling)
  const finished = finishAnswer(sampling, accepted.effective, cacheRequest.prompt.tokens)
  const tokens = { output: finished.outputTokens, thinking: finished.thinkingTokens }
  const plain = usageOf(charge, tokens)
  const usage: SimulatedUsage =
    deleted === undefined ? plain : { ...plain, cache_deleted_input_tokens: deleted }
  const billed = [billedOf(charge, finished.outputTokens)]
  return {
    response: toResponse(sampling, finished, usage),
    charges: [charge],
    billed,
    costUsd: costOf(accepted, billed),
    cacheRequest,
    isCut: finished.isCut,
  }
}

/** The charge of the prompt; if cache edits are offered, without the results that they deleted. */
function chargeWithEdits({ state, accepted, cache }: Sampling): {
  readonly cacheRequest: CacheRequest
  readonly charge: CacheCharge
  readonly deleted?: number
} {
  const { cacheRequest } = accepted
  if (!state.settings.cacheEdits) return { cacheRequest, charge: chargeRequest(cache, cacheRequest) }
  const { readIndex } = quoteRequest(cache, cacheRequest)
  const { prompt, tokens } = applyCacheEdits(accepted.effective, cacheRequest.prompt, readIndex)
  const edited = { ...cacheRequest, prompt }
  return { cacheRequest: edited, charge: chargeRequest(cache, edited), deleted: tokens }
}
