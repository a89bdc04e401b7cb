import type { PriceTier } from '../wire/model-facts.ts'
import { samplingsOf, type IterationUsage, type Usage } from '../wire/usage.ts'

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

/** The size of the whole input determines the tier, which applies to every token of the request. */
export function findTier(tiers: readonly PriceTier[], input: number): PriceTier | undefined {
  return tiers.find((tier) => tier.upToTokens === undefined || input <= tier.upToTokens) ?? tiers.at(-1)
}

/** US dollars for one answer. An answer that took several samplings is billed for each of them; its overall figures may omit some. */
export function costOfUsage(usage: Usage, tiers: readonly PriceTier[]): number {
  return samplingsOf(usage).reduce((sum, one) => sum + priceOf(billedIn(one), tiers), 0)
}

function billedIn(usage: Usage | IterationUsage): BilledTokens {
  const written1h = usage.cache_creation?.ephemeral_1h_input_tokens ?? 0
  return {
    read: usage.cache_read_input_tokens ?? 0,
    written5m: (usage.cache_creation_input_tokens ?? 0) - written1h,
    written1h,
    uncached: usage.input_tokens,
    output: usage.output_tokens,
  }
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
