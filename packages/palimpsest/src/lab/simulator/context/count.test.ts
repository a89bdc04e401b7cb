import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../../../../../test/kit/cases.ts'
import { partsOf } from '../../../ledger/request-prompt.ts'
import { findModelFacts, type ModelFacts } from '../../../wire/model-facts.ts'
import { imageSize, mediaTokens } from './count-media.ts'
import { createCounter, pieces, type Counter } from './count.ts'

function counter(model = 'claude-opus-4-6', seed = 0): Counter {
  return createCounter(findModelFacts(model) as ModelFacts, seed, new Map())
}

const PROSE = 'The quick brown fox jumps over the lazy dog, and the dog does not mind at all. '.repeat(40)

describe('counting', () => {
  test('covers pieces of words, numbers, punctuation and wide characters', () => {
    expect(pieces('')).toBe(0)
    // 15 + 3 x 2 sixteenths, rounded up
    expect(pieces('word')).toBe(2)
    // 19 + 0 + 23
    expect(pieces('two words')).toBe(3)
    // 15 + 19 x 2
    expect(pieces('internationalisation')).toBe(4)
    // 14 + 5 x 5
    expect(pieces('123456')).toBe(3)
    // 15 + 14 + 15
    expect(pieces('a.b')).toBe(3)
    expect(pieces('中文字')).toBe(3)
    // 23 + 15 + 6
    expect(pieces('camelCase')).toBe(3)
  })

  test('is realistic: about one token per four characters of prose', () => {
    const perToken = PROSE.length / counter().textTokens(PROSE)
    expect(perToken).toBeGreaterThan(3)
    expect(perToken).toBeLessThan(5.5)
  })

  test('is about a third higher for newer vocabularies', () => {
    const ratio = counter('claude-opus-5-5').textTokens(PROSE) / counter('claude-opus-4-6').textTokens(PROSE)
    expect(ratio).toBeGreaterThan(1.2)
    expect(ratio).toBeLessThan(1.4)
  })

  test('gives the same number for the same text, model and seed; another seed may not', () => {
    const texts = Array.from({ length: 20 }, (_, i) => `${PROSE}${i}`)
    const all = (seed: number): number[] =>
      texts.map((text) => counter('claude-opus-5-5', seed).textTokens(text))
    expect(all(1)).toEqual(all(1))
    expect(all(1)).not.toEqual(all(2))
  })

  test('has noise of at most two percent, and no two texts share it', () => {
    const one = counter()
    const texts = Array.from({ length: 50 }, (_, i) => `${PROSE}${String(i).padStart(2, '0')}`)
    const counts = texts.map((text) => one.textTokens(text))
    expect(new Set(counts).size).toBeGreaterThan(10)
    expect(Math.max(...counts) / Math.min(...counts)).toBeLessThan(1.045)
  })

  test('gives the same number for any block alone and in a request', () => {
    const blocks = fc.oneof(
      fc.record({ type: fc.constant('text' as const), text: fc.string() }),
      fc.record({
        type: fc.constant('tool_result' as const),
        tool_use_id: fc.string(),
        content: fc.array(fc.record({ type: fc.constant('text' as const), text: fc.string() })),
      }),
      fc.record({
        type: fc.constant('tool_use' as const),
        id: fc.string(),
        name: fc.string(),
        input: fc.dictionary(fc.string(), fc.integer()),
      }),
    )
    fc.assert(
      fc.property(blocks, (block) => {
        const messages = [{ role: 'user' as const, content: [block] }]
        const { parts } = partsOf({ model: 'm', max_tokens: 1, messages }, counter().sizeOf)
        const alone = counter().blockTokens(block, 'user')
        expect(parts.map(({ tokens }) => tokens)).toEqual([alone])
        expect(alone).toBeGreaterThan(0)
      }),
      cases(500, 100_000),
    )
  })
})

describe('images', () => {
  const bytes = (...values: number[]): string => btoa(String.fromCharCode(...values))
  const png = bytes(
    ...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52],
    ...[0, 0, 0x04, 0x00, 0, 0, 0x03, 0x00],
  )
  const gif = bytes(...[0x47, 0x49, 0x46, 0x38, 0x39, 0x61], ...[0x90, 0x01, 0x2c, 0x01], 0, 0)
  const jpeg = bytes(
    ...[0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0],
    ...[0xff, 0xc0, 0, 17, 8, 0x02, 0x58, 0x03, 0x20, 3],
  )
  const webp = bytes(
    ...[0x52, 0x49, 0x46, 0x46, 0, 0, 0, 0, 0x57, 0x45, 0x42, 0x50, 0x56, 0x50, 0x38, 0x58],
    ...[10, 0, 0, 0, 0, 0, 0, 0],
    ...[0xff, 0x01, 0, 0xff, 0, 0],
  )

  test.each([
    ['png', png, 1_024, 768],
    ['gif', gif, 400, 300],
    ['jpeg', jpeg, 800, 600],
    ['webp', webp, 512, 256],
  ])('the size of a %s is read from its header', (_format, data, width, height) => {
    expect(imageSize(data)).toEqual({ width, height })
  })

  test('cost as much as their area, up to a bound', () => {
    const image = (data: string) =>
      ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }) as const
    // 1,024 x 768 / 750
    expect(mediaTokens(image(png))).toBe(1_049)
    expect(mediaTokens(image('not base64!'))).toBe(1_600)
    expect(mediaTokens({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } })).toBe(
      1_500,
    )
  })
})
