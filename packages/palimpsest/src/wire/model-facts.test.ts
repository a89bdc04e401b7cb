import { describe, expect, test } from 'vitest'
import { findModelFacts, isClaudeId, MODEL_FACTS, parseModelName, unknownClaudeFacts } from './model-facts.ts'

const CLAUDE_IDS = [
  'claude-fable-5-2',
  'claude-mythos-5-2',
  'claude-haiku-5-5',
  'claude-sonnet-5-5',
  'claude-fable-5-1',
  'claude-opus-5-5',
  'claude-mythos-5-1',
  'claude-sonnet-5',
  'claude-fable-5',
  'claude-mythos-5',
  'claude-opus-5',
  'claude-opus-4-8',
  'claude-opus-4-7',
  'claude-mythos-preview',
  'claude-opus-4-6',
  'claude-sonnet-4-6',
  'claude-haiku-4-5',
  'claude-haiku-4-5-20251001',
  'claude-opus-4-5',
  'claude-opus-4-5-20251101',
  'claude-sonnet-4-5',
  'claude-sonnet-4-5-20250929',
]

describe('the table of models', () => {
  test('holds every Claude id that the SDK names, dated ones under their plain id', () => {
    for (const id of CLAUDE_IDS) expect(findModelFacts(id)?.id).toBe(id.replace(/-20\d{6}$/, ''))
  })

  test('names no model twice', () => {
    const ids = MODEL_FACTS.map((facts) => facts.id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('bounds every price tier except the last, in rising order of limit and price', () => {
    for (const { prices } of MODEL_FACTS) {
      expect(prices.at(-1)?.upToTokens).toBeUndefined()
      for (const [index, tier] of prices.slice(0, -1).entries()) {
        expect(tier.upToTokens).toBeGreaterThan(prices[index - 1]?.upToTokens ?? 0)
        expect(prices[index + 1]?.input).toBeGreaterThan(tier.input)
      }
    }
  })

  test('reads cheaper than it writes, and never writes below the input price', () => {
    for (const tier of MODEL_FACTS.flatMap((facts) => facts.prices)) {
      expect(tier.read).toBeLessThan(tier.input)
      expect(tier.write5m).toBeGreaterThanOrEqual(tier.input)
      expect(tier.write1h).toBeGreaterThanOrEqual(tier.write5m)
    }
  })

  test('says which models bind thinking to the prefix', () => {
    const binding = MODEL_FACTS.filter((facts) => facts.thinking.bindsPrefix).map((facts) => facts.id)
    expect(binding).toEqual([
      'claude-fable-5-2',
      'claude-mythos-5-2',
      'claude-fable-5-1',
      'claude-mythos-5-1',
      'claude-opus-5-5',
      'claude-sonnet-5-5',
      'claude-haiku-5-5',
    ])
  })

  test('lets only Fable 5.1 read the thinking of others', () => {
    const readers = MODEL_FACTS.filter((facts) => facts.thinking.readsFrom.length > 0)
    expect(readers.map((facts) => [facts.id, facts.thinking.readsFrom])).toEqual([
      ['claude-fable-5-1', ['claude-opus-5', 'claude-opus-5-5']],
    ])
  })

  test('has the published tier borders', () => {
    const borders = (id: string) => findModelFacts(id)?.prices.map((tier) => tier.upToTokens)
    expect(borders('claude-haiku-5-5')).toEqual([100_000, undefined])
    expect(borders('gpt-5.5')).toEqual([272_000, undefined])
    expect(borders('gemini-2.5-pro')).toEqual([200_000, undefined])
    expect(borders('gemini-3.1-pro-preview')).toEqual([200_000, undefined])
    expect(borders('claude-opus-5-5')).toEqual([undefined])
  })

  test('flags a price that no source states', () => {
    expect(findModelFacts('claude-fable-5-2')?.prices).toEqual([
      { input: 8, output: 40, write5m: 10, write1h: 16, read: 0.2, assumed: ['write1h'] },
    ])
    expect(findModelFacts('claude-opus-5-5')?.prices).toEqual([
      { input: 4, output: 20, write5m: 5, write1h: 8, read: 0.2 },
    ])
  })

  test('flags a cache minimum that no source states', () => {
    const unknown = MODEL_FACTS.filter((facts) => facts.vendor === 'anthropic' && !facts.cacheMinimumKnown)
    expect(unknown.map((facts) => [facts.id, facts.cacheMinimumTokens])).toEqual([
      ['claude-fable-5-2', 1_024],
      ['claude-mythos-5-2', 1_024],
      ['claude-mythos-5-1', 1_024],
      ['claude-opus-5-5', 1_024],
      ['claude-sonnet-5-5', 1_024],
      ['claude-haiku-5-5', 1_024],
    ])
  })

  test('strips the thinking of earlier turns only on Sonnet 4.5 and Haiku 4.5', () => {
    const stripping = MODEL_FACTS.filter((f) => f.vendor === 'anthropic' && !f.thinking.keptAcrossTurns)
    expect(stripping.map((facts) => facts.id)).toEqual(['claude-sonnet-4-5', 'claude-haiku-4-5'])
  })
})

describe('finding a model', () => {
  test.each([
    'us.anthropic.claude-opus-4-5-20251101-v1:0',
    'anthropic.claude-opus-4-5',
    'anthropic/claude-opus-4.5',
    'claude-opus-4-5@20251101',
  ])('knows %s by the name of another platform', (id) => {
    expect(findModelFacts(id)?.id).toBe('claude-opus-4-5')
  })

  test('does not take one model for another', () => {
    expect(findModelFacts('claude-sonnet-5-5')?.prices[0]?.read).toBe(0.1)
    expect(findModelFacts('claude-sonnet-5')?.prices[0]?.read).toBe(0.2)
    expect(findModelFacts('claude-sonnet-9')).toBeUndefined()
    expect(findModelFacts('gpt-5.3-codex-spark')).toBeUndefined()
    expect(findModelFacts('')).toBeUndefined()
  })

  test('removes the suffix for the extended window from the name', () => {
    expect(parseModelName('claude-sonnet-4-6[1m]')).toEqual({ id: 'claude-sonnet-4-6', extended: true })
    expect(parseModelName('claude-sonnet-4-6')).toEqual({ id: 'claude-sonnet-4-6', extended: false })
    expect(findModelFacts('claude-sonnet-4-6[1m]')).toBeUndefined()
  })

  test('makes the safest assumptions about a Claude model it does not know', () => {
    expect(isClaudeId('anthropic/claude-opus-9')).toBe(true)
    expect(isClaudeId('gpt-9')).toBe(false)
    const facts = unknownClaudeFacts('claude-opus-9')
    expect(facts.contextWindow).toBe(200_000)
    expect(facts.thinking.bindsPrefix).toBe(true)
    expect(facts.capabilities.onDemandCompaction).toBe(false)
    expect(facts.cacheMinimumKnown).toBe(false)
  })

  test.each([
    ['claude-opus-4-1-20250805', false],
    ['claude-opus-4-20250514', false],
    ['claude-sonnet-4-20250514', false],
    ['claude-3-7-sonnet-20250219', false],
    ['claude-3-5-haiku-20241022', false],
    ['claude-haiku-4', false],
    ['claude-opus-9', true],
    ['claude-sonnet-6-1', true],
    ['claude-haiku-5', true],
    ['claude-something', true],
  ])('a Claude model it does not know, %s: thinking of earlier turns is kept: %s', (id, isKept) => {
    expect(unknownClaudeFacts(id).thinking.keptAcrossTurns).toBe(isKept)
  })
})
