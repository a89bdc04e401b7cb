import { ProviderError } from '../errors.ts'
import { costOfUsage } from '../ledger/prices.ts'
import type { ModelRequest, StreamModel } from '../ports.ts'
import { estimatePrompt } from '../tokens/plausible-usage.ts'
import { findModelFacts, type ModelFacts, type PriceTier } from '../wire/model-facts.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'
import { maxTokensIn } from './judge-usage.ts'

// A limit in dollars, held before anything is sent. Every request passes here, whoever asks: the conversation, summaries, notes. What is under way
// counts as what it may come to; what came to its end as what it cost.

export interface Budget {
  readonly streamModel: StreamModel
  /** US dollars that nothing was spent on, and nothing under way may come to. */
  readonly leftUsd: () => number
}

/** An answer of fewer tokens says nothing, so nothing is sent for it. */
const ANSWER_TOKENS_MIN = 256

/** `spentUsd`: before any of these requests. Their streams must tell their usage, or a 0. */
export function createBudget(
  streamModel: StreamModel,
  { maxUsd, spentUsd }: { readonly maxUsd: number; readonly spentUsd: number },
): Budget {
  let spent = spentUsd
  let underWay = 0
  const leftUsd = (): number => maxUsd - spent - underWay
  return {
    leftUsd,
    streamModel: async function* limited(request, signal) {
      const { facts, expected } = quoteOf(request)
      const prices = facts?.prices ?? []
      requireAfforded(expected, { prices, answerTokens: ANSWER_TOKENS_MIN, leftUsd: leftUsd() })
      const most = costOfUsage({ ...expected, output_tokens: maxTokensIn(request.body) ?? 0 }, prices)
      const held = Math.min(most, leftUsd())
      underWay += held
      let usage: Usage = { input_tokens: 0, output_tokens: 0 }
      let isBegun = false
      try {
        for await (const event of streamModel(request, signal)) {
          if (event.type === 'message_start') usage = event.message.usage
          if (event.type === 'message_delta') usage = { ...usage, ...toldIn(event.usage) }
          isBegun ||= event.type === 'message_start'
          yield event
        }
      } finally {
        underWay -= held
        // What was not told, or not believed, is what was expected. A request that failed before its answer began costs nothing.
        const isTold = promptTokens(usage) > 0
        if (isBegun || signal.aborted) spent += costOfUsage(isTold ? usage : expected, prices)
      }
    },
  }
}

/** How long an answer may be, for what is left; throws where even a short one is too dear. */
export function affordedTokens(
  expected: Usage,
  limits: {
    readonly prices: readonly PriceTier[]
    readonly maxTokens: number
    /** Of the model's thinking, where that has a budget of its own: an answer must be allowed more. */
    readonly thinkingTokens: number
    readonly leftUsd: number
  },
): number {
  const { prices, maxTokens, thinkingTokens, leftUsd } = limits
  const answerTokens = thinkingTokens + ANSWER_TOKENS_MIN
  requireAfforded(expected, { prices, answerTokens, leftUsd })
  const prompt = costOfUsage({ ...expected, output_tokens: 0 }, prices)
  const perToken = (costOfUsage({ ...expected, output_tokens: 1_000 }, prices) - prompt) / 1_000
  if (perToken <= 0) return maxTokens
  return Math.min(maxTokens, Math.floor((leftUsd - prompt) / perToken))
}

function requireAfforded(
  expected: Usage,
  limits: { readonly prices: readonly PriceTier[]; readonly answerTokens: number; readonly leftUsd: number },
): void {
  const { prices, answerTokens, leftUsd } = limits
  const neededUsd = costOfUsage({ ...expected, output_tokens: answerTokens }, prices)
  // A model without a price costs nothing that is known, also where nothing is left.
  if (neededUsd === 0 || neededUsd <= leftUsd) return
  throw new ProviderError(
    { kind: 'over-budget', neededUsd, leftUsd: Math.max(0, leftUsd) },
    `The next request costs about $${neededUsd.toFixed(4)}, and $${Math.max(0, leftUsd).toFixed(4)} is left.`,
  )
}

function quoteOf({ model, body, expected }: ModelRequest): {
  readonly facts: ModelFacts | undefined
  readonly expected: Usage
} {
  const facts = findModelFacts(model)
  return { facts, expected: expected ?? { input_tokens: estimatePrompt(body, facts), output_tokens: 0 } }
}

function toldIn(usage: object): object {
  return Object.fromEntries(
    Object.entries(usage).filter(([, value]) => value !== null && value !== undefined),
  )
}
