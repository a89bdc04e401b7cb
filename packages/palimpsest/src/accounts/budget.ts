import { ProviderError, type SpendingLimit } from '../errors.ts'
import { costOfUsage } from '../ledger/prices.ts'
import type { ModelEvent, ModelRequest, Source, StreamModel } from '../ports.ts'
import { estimatePrompt } from '../tokens/plausible-usage.ts'
import { findModelFacts, type ModelFacts, type PriceTier } from '../wire/model-facts.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'
import { maxTokensIn } from './judge-usage.ts'

// A limit in dollars, checked before anything is sent. Every request passes here, whoever asks: the conversation, summaries, notes.
// A running request counts as the most it may cost, a finished one as what it cost.

export interface Budget {
  readonly streamModel: StreamModel
  /** US dollars that are neither spent nor set aside for running requests. */
  readonly leftUsd: () => number
}

/** Keeps a limit: this process for one session, or a file for all of them. */
export interface Purse {
  readonly leftUsd: () => number
  /** Sets aside what a request may cost. Undefined: not even what it needs is left. */
  readonly hold: (amount: HeldAmount) => Promise<Held | undefined>
  /** The limit as the user knows it. */
  readonly limit?: (() => SpendingLimit) | undefined
}

export interface HeldAmount {
  /** For the prompt and a short answer. */
  readonly neededUsd: number
  /** For the longest answer. */
  readonly mostUsd: number
  /** Who asks. */
  readonly source: Source
}

export interface Held {
  /** The request ended, and cost this much. */
  readonly settle: (spentUsd: number) => Promise<void>
}

/** A shorter answer says nothing, so no request is sent for it. */
const ANSWER_TOKENS_MIN = 256

/** `spentUsd`: spent before any of these requests. Their streams must report their usage, if only as 0. */
export function createBudget(
  streamModel: StreamModel,
  { maxUsd, spentUsd }: { readonly maxUsd: number; readonly spentUsd: number },
): Budget {
  const purse = createPurse(maxUsd, spentUsd)
  return { leftUsd: purse.leftUsd, streamModel: payFrom(purse, streamModel) }
}

function createPurse(maxUsd: number, spentUsd: number): Purse {
  let spent = spentUsd
  let underWay = 0
  const leftUsd = (): number => maxUsd - spent - underWay
  return {
    leftUsd,
    hold: async ({ neededUsd, mostUsd }) => {
      if (neededUsd > leftUsd()) return undefined
      const held = Math.min(mostUsd, leftUsd())
      underWay += held
      return {
        settle: async (usd) => {
          underWay -= held
          spent += usd
        },
      }
    },
  }
}

/** The model, asked only within what the purse holds. */
export function payFrom(purse: Purse, streamModel: StreamModel): StreamModel {
  return async function* limited(request, signal) {
    const { facts, expected } = quoteOf(request)
    const prices = facts?.prices ?? []
    const priceWith = (outputTokens: number): number =>
      costOfUsage({ ...expected, output_tokens: outputTokens }, prices)
    const neededUsd = priceWith(ANSWER_TOKENS_MIN)
    const mostUsd = priceWith(maxTokensIn(request.body) ?? 0)
    const held = await purse.hold({ neededUsd, mostUsd, source: request.source })
    // A model without a price costs nothing that we know of, so it is asked even if nothing is left.
    if (!held && neededUsd > 0) throw overBudget(neededUsd, purse.leftUsd(), purse.limit?.())
    let usage: Usage = { input_tokens: 0, output_tokens: 0 }
    let isBegun = false
    try {
      for await (const event of streamModel(request, signal)) {
        usage = usageAfter(usage, event)
        isBegun ||= event.type === 'message_start'
        yield event
      }
    } finally {
      // Usage that is missing or not credible counts as expected. A request that failed before its answer began costs nothing.
      const isTold = promptTokens(usage) > 0
      const isPaid = isBegun || signal.aborted
      await held?.settle(isPaid ? costOfUsage(isTold ? usage : expected, prices) : 0)
    }
  }
}

/** How long an answer may be with what is left; throws if even a short one is too expensive. */
export function affordedTokens(
  expected: Usage,
  limits: {
    readonly prices: readonly PriceTier[]
    readonly maxTokens: number
    /** The budget of the model's thinking, if it has one: an answer must be allowed more. */
    readonly thinkingTokens: number
    readonly leftUsd: number
    readonly limit?: SpendingLimit | undefined
  },
): number {
  const { prices, maxTokens, thinkingTokens, leftUsd, limit } = limits
  const neededUsd = costOfUsage({ ...expected, output_tokens: thinkingTokens + ANSWER_TOKENS_MIN }, prices)
  if (neededUsd > 0 && neededUsd > leftUsd) throw overBudget(neededUsd, leftUsd, limit)
  const prompt = costOfUsage({ ...expected, output_tokens: 0 }, prices)
  const perToken = (costOfUsage({ ...expected, output_tokens: 1_000 }, prices) - prompt) / 1_000
  if (perToken <= 0) return maxTokens
  return Math.min(maxTokens, Math.floor((leftUsd - prompt) / perToken))
}

function overBudget(neededUsd: number, leftUsd: number, limit: SpendingLimit | undefined): ProviderError {
  const left = Math.max(0, leftUsd)
  return new ProviderError(
    { kind: 'over-budget', neededUsd, leftUsd: left, limit },
    `The next request costs about $${neededUsd.toFixed(4)}, and $${left.toFixed(4)} is left.`,
  )
}

function quoteOf({ model, body, expected }: ModelRequest): {
  readonly facts: ModelFacts | undefined
  readonly expected: Usage
} {
  const facts = findModelFacts(model)
  return { facts, expected: expected ?? { input_tokens: estimatePrompt(body, facts), output_tokens: 0 } }
}

function usageAfter(usage: Usage, event: ModelEvent): Usage {
  if (event.type === 'message_start') return event.message.usage
  if (event.type !== 'message_delta') return usage
  const told = Object.entries(event.usage).filter(([, value]) => value !== null && value !== undefined)
  return { ...usage, ...Object.fromEntries(told) }
}
