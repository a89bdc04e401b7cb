import { describe, expect, test } from 'vitest'
import { findModelFacts } from '../wire/model-facts.ts'
import { costOfUsage, findTier, inputTokens, priceOf, type BilledTokens } from './prices.ts'

const NOTHING: BilledTokens = { read: 0, written5m: 0, written1h: 0, uncached: 0, output: 0 }

function price(model: string, billed: Partial<BilledTokens>): number {
  return priceOf({ ...NOTHING, ...billed }, findModelFacts(model)?.prices ?? [])
}

describe('prices', () => {
  test('every kind of token has its own price on Opus 5.5: 4 in, 5 and 8 written, 0.20 read, 20 out', () => {
    expect(price('claude-opus-5-5', { uncached: 1_000_000 })).toBeCloseTo(4, 10)
    expect(price('claude-opus-5-5', { written5m: 1_000_000 })).toBeCloseTo(5, 10)
    expect(price('claude-opus-5-5', { written1h: 1_000_000 })).toBeCloseTo(8, 10)
    expect(price('claude-opus-5-5', { read: 1_000_000 })).toBeCloseTo(0.2, 10)
    expect(price('claude-opus-5-5', { output: 1_000_000 })).toBeCloseTo(20, 10)
  })

  test('an answer of several samplings costs their sum, whatever its own figures say', () => {
    const prices = findModelFacts('claude-opus-5-5')?.prices ?? []
    const one = { type: 'compaction', input_tokens: 500_000, output_tokens: 100_000 }
    const usage = { input_tokens: 0, output_tokens: 0, iterations: [one, { ...one, type: 'message' }] }
    expect(costOfUsage(usage, prices)).toBeCloseTo(2 * (2 + 2), 10)
    const plain = { input_tokens: 500_000, output_tokens: 0, cache_read_input_tokens: 1_000_000 }
    expect(costOfUsage(plain, prices)).toBeCloseTo(2 + 0.2, 10)
  })

  test('the price of a request is the sum over its kinds of tokens', () => {
    // 50,000 x 0.10 + 2,000 x 2.50 + 1,000 x 4 + 300 x 2 + 500 x 10, per million
    const billed = { read: 50_000, written5m: 2_000, written1h: 1_000, uncached: 300, output: 500 }
    expect(price('claude-sonnet-5-5', billed)).toBeCloseTo(0.0196, 12)
  })

  test('on Haiku 5.5 the whole input, including cached tokens, decides the tier, and the tier applies to every token', () => {
    // 100,000 in all: 60,000 x 0.01 + 40,000 x 0.10 + 1,000 x 0.50
    expect(price('claude-haiku-5-5', { read: 60_000, uncached: 40_000, output: 1_000 })).toBeCloseTo(
      0.0051,
      12,
    )
    // one token more: 60,000 x 0.05 + 40,001 x 0.50 + 1,000 x 2.50
    expect(price('claude-haiku-5-5', { read: 60_000, uncached: 40_001, output: 1_000 })).toBeCloseTo(
      0.0255005,
      12,
    )
    // both lifetimes in the upper tier: 150,000 x 0.625 + 50,000 x 1.00
    expect(price('claude-haiku-5-5', { written5m: 150_000, written1h: 50_000 })).toBeCloseTo(0.14375, 12)
  })

  test('a model without prices costs nothing', () => {
    expect(priceOf({ ...NOTHING, uncached: 1_000 }, [])).toBe(0)
    expect(findTier([], 1)).toBeUndefined()
  })

  test('(L1) input is the sum of read, written and uncached tokens', () => {
    expect(inputTokens({ read: 1, written5m: 20, written1h: 300, uncached: 4_000 })).toBe(4_321)
  })
})
