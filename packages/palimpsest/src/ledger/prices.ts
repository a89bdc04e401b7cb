import type { PriceTier } from '../wire/model-facts.ts'

const TOKENS_PER_PRICE = 1_000_000

export interface BilledTokens {
  readonly read: number
  readonly written5m: number
  readonly written1h: number
  readonly uncached: number
  readonly output: number
}

export function inputTokens(billed: Omit<BilledTokens, 'output'>): number {
  return billed.read + billed.written5m + billed.written1h + billed.uncached
}

/** The tier is chosen by the whole input and holds for every token of the request. */
export function findTier(tiers: readonly PriceTier[], input: number): PriceTier | undefined {
  return tiers.find((tier) => tier.upToTokens === undefined || input <= tier.upToTokens) ?? tiers.at(-1)
}

/** US dollars for one request; 0 for a model without a price. */
export function priceOf(billed: BilledTokens, tiers: readonly PriceTier[]): number {
  const tier = findTier(tiers, inputTokens(billed))
  if (!tier) return 0
  const sum =
    billed.read * tier.read +
    billed.written5m * tier.write5m +
    billed.written1h * tier.write1h +
    billed.uncached * tier.input +
    billed.output * tier.output
  return sum / TOKENS_PER_PRICE
}
