import { chargeRequest, type CacheCharge } from '../ledger/cache.ts'
import { layPrompt } from '../ledger/prompt.ts'
import { hashBlock, partsOf, promptKey } from '../ledger/request-prompt.ts'
import { summarizeOffline } from '../providers/offline/summarize-offline.ts'
import type { CompactionBlock, Role } from '../wire/message.ts'
import type { MessagesRequest } from '../wire/request.ts'
import { endOf, pushCompaction } from './prefix-chain.ts'
import { costOf, finishAnswer, toResponse, type Sampled, type Sampling } from './sample.ts'
import { signCompaction } from './sign.ts'
import { billedOf, iterationOf, NO_CHARGE, usageOf } from './usage.ts'

// The two server-side compactions: on demand, with a signed block that replaces the summarised messages, and over a threshold, inside an
// ordinary answer.

const TRIGGER_TOKENS = 150_000
/** What the server's own summarisation prompt adds to the input. */
const PROMPT_TOKENS = 400

/** A compaction request: the response holds the signed block alone. */
export function compactOnDemand(sampling: Sampling): Sampled {
  const { state, accepted, cache } = sampling
  const { request, effective, counter, cacheRequest, binding } = accepted
  const content = summaryOf(sampling, effective)
  const charge = withPrompt(
    chargeRequest(cache, cacheRequest),
    promptSize(sampling, request.compaction?.instructions),
  )
  const lastRole: Role = request.messages.at(-1)?.role ?? 'user'
  const range = { head: binding.chain.head, end: endOf(binding.chain), lastRole }
  const block: CompactionBlock = {
    type: 'compaction',
    content,
    encrypted_content: null,
    signature: signCompaction(state.settings.key, range, content, '[]'),
    tool_changes: [],
  }
  const output = counter.textTokens(content)
  const top = state.settings.switches.compactionUsage === 'top-level'
  const usage = {
    ...usageOf(top ? charge : NO_CHARGE, { output: top ? output : 0, thinking: 0 }),
    iterations: [iterationOf('compaction', charge, output)],
  }
  const billed = [billedOf(charge, output)]
  return {
    response: toResponse(sampling, { content: [block], stopReason: 'compaction', stopSequence: null }, usage),
    charges: [charge],
    billed,
    costUsd: costOf(accepted, billed),
    cacheRequest,
    isCut: false,
  }
}

export interface Threshold {
  readonly tokens: number
  readonly pause: boolean
  readonly instructions: string | undefined
}

export function thresholdOf(request: MessagesRequest): Threshold | undefined {
  const edit = request.context_management?.edits?.find((found) => found.type === 'compact_20260112')
  if (edit?.type !== 'compact_20260112') return undefined
  return {
    tokens: edit.trigger?.value ?? TRIGGER_TOKENS,
    pause: edit.pause_after_compaction ?? false,
    instructions: edit.instructions ?? undefined,
  }
}

/** The conversation is summarised first; then the answer is sampled from the summary, unless the request asks to pause. */
export function compactOverThreshold(sampling: Sampling, threshold: Threshold): Sampled {
  const { accepted, cache } = sampling
  const { effective, counter, cacheRequest, binding, caller } = accepted
  const content = summaryOf({ ...sampling, step: undefined }, effective)
  const block: CompactionBlock = { type: 'compaction', content, encrypted_content: null }
  const charge = withPrompt(chargeRequest(cache, cacheRequest), promptSize(sampling, threshold.instructions))
  const compaction = iterationOf('compaction', charge, counter.textTokens(content))
  const compactionBilled = billedOf(charge, compaction.output_tokens)
  pushCompaction(binding.chain, 'assistant', hashBlock(block, 'assistant'), undefined)
  if (threshold.pause) {
    const usage = { ...usageOf(NO_CHARGE, { output: 0, thinking: 0 }), iterations: [compaction] }
    return {
      response: toResponse(
        sampling,
        { content: [block], stopReason: 'compaction', stopSequence: null },
        usage,
      ),
      charges: [charge],
      billed: [compactionBilled],
      costUsd: costOf(accepted, [compactionBilled]),
      cacheRequest,
      isCut: false,
    }
  }
  const seen: MessagesRequest = { ...effective, messages: [{ role: 'assistant', content: [block] }] }
  const { parts, breakpoints } = partsOf(seen, counter.sizeOf)
  const next = { ...cacheRequest, prompt: layPrompt(promptKey(seen, caller.betas), parts), breakpoints }
  const nextCharge = chargeRequest(cache, next)
  const finished = finishAnswer(sampling, effective, next.prompt.tokens)
  const message = iterationOf('message', nextCharge, finished.outputTokens)
  const usage = {
    ...usageOf(nextCharge, { output: finished.outputTokens, thinking: finished.thinkingTokens }),
    iterations: [compaction, message],
  }
  const billed = [compactionBilled, billedOf(nextCharge, finished.outputTokens)]
  return {
    response: toResponse(sampling, { ...finished, content: [block, ...finished.content] }, usage),
    charges: [charge, nextCharge],
    billed,
    costUsd: costOf(accepted, billed),
    cacheRequest: next,
    isCut: finished.isCut,
  }
}

/** A scripted text is the summary; else the offline model's. */
function summaryOf({ step }: Sampling, request: MessagesRequest): string {
  const scripted = step?.content.flatMap((block) =>
    typeof block['text'] === 'string' ? [block['text']] : [],
  )
  const text = scripted && scripted.length > 0 ? scripted.join('\n') : summarizeOffline(request.messages)
  return text === '' ? 'Nothing was said.' : text
}

/** The summarisation prompt stands behind the conversation, so it is never cached. */
function withPrompt(charge: CacheCharge, promptTokens: number): CacheCharge {
  return { ...charge, uncached: charge.uncached + promptTokens }
}

function promptSize({ accepted }: Sampling, instructions: string | null | undefined): number {
  return instructions?.trim() ? accepted.counter.textTokens(instructions) : PROMPT_TOKENS
}
