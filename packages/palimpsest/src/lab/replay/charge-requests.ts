import { breakpointPlaces } from '../../request/breakpoint-places.ts'
import { layRequest, type LaidRequest, type PromptHead } from '../../request/lay-request.ts'
import {
  chargeRequest,
  createCache,
  publishWrites,
  type CacheCharge,
  type CacheRequest,
} from '../../ledger/cache.ts'
import { explainCharge, type CacheExplanation } from '../../ledger/explain.ts'
import { priceOf } from '../../ledger/prices.ts'
import type { PromptPart } from '../../ledger/prompt.ts'
import type { Settled } from '../../transcript/settle.ts'
import type { View } from '../../transcript/view.ts'
import { hashText } from '../../wire/hash.ts'
import type { ModelFacts } from '../../wire/model-facts.ts'
import type { BackgroundCall } from './strategies/strategy.ts'

// The ledger's bill for a replayed conversation. Positions of unchanged messages come from the request before, so the work per request
// is only what is new in it.

export interface ChargeOptions {
  readonly hiddenTokens: number
  readonly factor: number
}

export interface ChargedRequest {
  readonly view: View
  readonly settled: Settled
  readonly model: string
  readonly facts: ModelFacts
  readonly at: number
  readonly beganAt: number
  readonly ttl: '5m' | '1h'
  readonly outputTokens: number
}

export interface Bill {
  readonly charge: CacheCharge
  readonly explanation: CacheExplanation
  readonly inputTokens: number
  readonly dollars: number
}

export interface Biller {
  readonly charge: (request: ChargedRequest) => Bill
  /** Dollars of a model call: a fork that extends the conversation, or a separate request. What it writes to the cache is not kept. */
  readonly chargeCall: (request: ChargedRequest, call: BackgroundCall) => number
}

/** Represents system prompt, tools and instruction files: one position of the system level. */
export const HIDDEN_PROMPT = JSON.stringify([
  {
    type: 'text',
    text: 'System prompt, tools and instruction files of the recorded agent: not in the recording.',
  },
])

export function createBiller({ hiddenTokens, factor }: ChargeOptions): Biller {
  const cache = createCache()
  const headOf = createHeads(hiddenTokens)
  let laid: LaidRequest | undefined
  let earlier: CacheRequest | undefined
  const lay = ({ view, settled, model, at, ttl, facts }: ChargedRequest): CacheRequest => {
    const places = breakpointPlaces(view, settled)
    const toTokens = (raw: number): number => Math.round(raw * factor)
    laid = layRequest({ settled, head: headOf(model), places, toTokens }, laid)
    return {
      at,
      prompt: laid.prompt,
      breakpoints: laid.breakpoints.map((index) => ({ index, ttl })),
      minimumTokens: facts.cacheMinimumTokens,
    }
  }
  return {
    charge(request) {
      const laidOut = lay(request)
      const charge = chargeRequest(cache, laidOut)
      const explanation = explainCharge(cache, laidOut, charge, earlier)
      publishWrites(cache, charge, request.beganAt)
      earlier = laidOut
      const dollars = priceOf({ ...charge, output: request.outputTokens }, request.facts.prices)
      return { charge, explanation, inputTokens: laidOut.prompt.tokens, dollars }
    },
    chargeCall(request, call) {
      if (call.alone)
        return priceOf(
          { ...NOTHING_CACHED, uncached: call.promptTokens, output: call.outputTokens },
          request.facts.prices,
        )
      const charge = chargeRequest(cache, lay(request))
      const billed = { ...charge, uncached: charge.uncached + call.promptTokens, output: call.outputTokens }
      return priceOf(billed, request.facts.prices)
    },
  }
}

const NOTHING_CACHED = { read: 0, written5m: 0, written1h: 0 } as const

/** One head per model: the hidden prompt, with a breakpoint. */
function createHeads(hiddenTokens: number): (model: string) => PromptHead {
  const heads = new Map<string, PromptHead>()
  const hidden: PromptPart = {
    level: 'system',
    path: 'system.0',
    hash: hashText(HIDDEN_PROMPT.slice(1, -1)),
    tokens: hiddenTokens,
    cacheable: true,
  }
  return (model) => {
    const key = { tools: { model }, system: {}, messages: {} }
    const head = heads.get(model) ?? { key, parts: [hidden], breakpoint: 0 }
    heads.set(model, head)
    return head
  }
}
