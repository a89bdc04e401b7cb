import { chargeRequest, type CacheCharge } from '../../../ledger/cache.ts'
import { layPrompt } from '../../../ledger/prompt.ts'
import { hashBlock, partsOf, promptKey } from '../../../ledger/request-prompt.ts'
import { summarizeOffline } from '../../offline/summarize-offline.ts'
import type { CompactionBlock, Role, WireMessage } from '../../../wire/message.ts'
import type { MessagesRequest } from '../../../wire/request.ts'
import { endOf, pushCompaction } from './prefix-chain.ts'
import { costOf, finishAnswer, toResponse, type Sampled, type Sampling } from '../answering/sample.ts'
import { signCompaction } from '../answering/sign.ts'
import { billedOf, iterationOf, NO_CHARGE, usageOf } from '../answering/usage.ts'

// The two server-side compactions: on demand, with a signed block that replaces the summarized messages, and over a threshold, inside an
// ordinary answer.

const TRIGGER_TOKENS = 150_000
/** Input tokens of the server's own summary prompt. */
const PROMPT_TOKENS = 400

/** Answers a compaction request: the response has only the signed block. */
export function compactOnDemand(sampling: Sampling): Sampled {
  const { state, accepted, cache } = sampling
  const { request, effective, counter, cacheRequest, binding } = accepted
  const content = scriptedSummary(sampling) ?? scriptedText(sampling) ?? summarize(effective)
  const charge = withPrompt(
    chargeRequest(cache, cacheRequest),
    promptSize(sampling, request.compaction?.instructions),
  )
  const lastRole: Role = request.messages.at(-1)?.role ?? 'user'
  const range = { head: binding.chain.head, end: endOf(binding.chain), lastRole }
  const signed = (text: string): CompactionBlock => ({
    ...blockOf(text),
    signature: signCompaction(state.settings.key, range, text, '[]'),
    tool_changes: [],
  })
  const block = content === FAILED ? blockOf(null) : signed(content)
  const output = counter.textTokens(block.content ?? '')
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

/** Summarizes the conversation first; then samples the answer from the summary, unless the request asks to pause. */
export function compactOverThreshold(sampling: Sampling, threshold: Threshold): Sampled {
  const { accepted, cache } = sampling
  const { effective, counter, cacheRequest, binding, caller } = accepted
  const content = scriptedSummary(sampling) ?? summarize(effective)
  const block = blockOf(content === FAILED ? null : content)
  const charge = withPrompt(chargeRequest(cache, cacheRequest), promptSize(sampling, threshold.instructions))
  const compaction = iterationOf('compaction', charge, counter.textTokens(block.content ?? ''))
  const compactionBilled = billedOf(charge, compaction.output_tokens)
  if (content !== FAILED) pushCompaction(binding.chain, 'assistant', hashBlock(block, 'assistant'), undefined)
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
  const summary: WireMessage = { role: 'assistant', content: [block] }
  const seen = content === FAILED ? effective : { ...effective, messages: [summary] }
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

function blockOf(content: string | null): CompactionBlock {
  return { type: 'compaction', content, encrypted_content: null }
}

/** The model gave no summary, for example because it called a tool. The block then has no content and no effect. */
const FAILED = Symbol('failed')

/** The content of a scripted `compaction` block; anything but a string is a failure. */
function scriptedSummary({ step }: Sampling): string | typeof FAILED | undefined {
  const block = step?.content.find(({ type }) => type === 'compaction')
  if (!block) return undefined
  return typeof block['content'] === 'string' ? block['content'] : FAILED
}

/** The texts of a step that meets a compaction request. A step without text is also a failure. */
function scriptedText({ step }: Sampling): string | typeof FAILED | undefined {
  if (!step) return undefined
  const texts = step.content.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  return texts.length > 0 ? texts.join('\n') : FAILED
}

function summarize({ messages }: MessagesRequest): string {
  const text = summarizeOffline(messages)
  return text === '' ? 'Nothing was said.' : text
}

/** The summary prompt comes after the conversation, so it is never cached. */
function withPrompt(charge: CacheCharge, promptTokens: number): CacheCharge {
  return { ...charge, uncached: charge.uncached + promptTokens }
}

function promptSize({ accepted }: Sampling, instructions: string | null | undefined): number {
  return instructions?.trim() ? accepted.counter.textTokens(instructions) : PROMPT_TOKENS
}
