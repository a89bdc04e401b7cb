import { describe, expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { chainHash, hashText } from './hash.ts'

const HASH_BITS = 128

/** Texts that differ as little as prefixes do: in one counter, one digit, their length, or one character far inside. */
function* similarTexts(count: number): Generator<string> {
  const body = 'The quick brown fox jumps over the lazy dog. '.repeat(4)
  for (let i = 0; i < count; i++) {
    yield String(i)
    yield `toolu_${i.toString(36).padStart(8, '0')}`
    yield body + i
    yield i + body
    yield body.slice(0, 90) + String.fromCharCode(i) + body.slice(91)
  }
  for (let length = 1; length <= 2000; length++) {
    yield '\0'.repeat(length)
    yield '\uffff'.repeat(length)
  }
}

describe('the hash distinguishes texts', () => {
  test('no two of very many similar texts share a hash, nor even 64 bits of it', () => {
    const texts = new Set(similarTexts(cases(8_000, 500_000).numRuns))
    const hashes = new Set<string>()
    const halves = [new Set<string>(), new Set<string>()] as const
    for (const text of texts) {
      const hash = hashText(text)
      hashes.add(hash)
      halves[0].add(hash.slice(0, 16))
      halves[1].add(hash.slice(16))
    }
    expect([hashes.size, halves[0].size, halves[1].size]).toEqual([texts.size, texts.size, texts.size])
  })

  test('every nibble takes every value equally often', () => {
    const counts = Array.from({ length: 32 }, () => Array.from({ length: 16 }, () => 0))
    let total = 0
    for (const text of new Set(similarTexts(5000))) {
      total++
      for (const [place, digit] of hashText(text).split('').entries()) {
        const row = counts[place]
        if (row) row[parseInt(digit, 16)] = (row[parseInt(digit, 16)] ?? 0) + 1
      }
    }
    const expected = total / 16
    const chiSquares = counts.map((row) =>
      row.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0),
    )
    // 15 degrees of freedom: 50 is passed by chance once in a hundred thousand.
    expect(Math.max(...chiSquares)).toBeLessThan(50)
  })

  test('changing one bit of the text changes half of the bits of the hash, wherever it is', () => {
    const lengths = [1, 7, 8, 9, 15, 16, 40, 129]
    for (const length of lengths) {
      const text = Array.from({ length }, (_, i) => String.fromCharCode(33 + ((i * 7919) % 90))).join('')
      const hash = hashText(text)
      let changed = 0
      let trials = 0
      for (let at = 0; at < length; at++) {
        for (let bit = 0; bit < 16; bit++) {
          const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << bit))
          changed += differingBits(hash, hashText(text.slice(0, at) + flipped + text.slice(at + 1)))
          trials++
        }
      }
      expect(changed / (trials * HASH_BITS)).toBeGreaterThan(0.47)
      expect(changed / (trials * HASH_BITS)).toBeLessThan(0.53)
    }
  })

  test('another seed gives another hash', () => {
    expect(hashText('a', 1)).not.toBe(hashText('a'))
  })
})

describe('the hash is part of stored transcripts, so it never changes', () => {
  test.each([
    ['', '00000000000000000000000000000000'],
    ['a', 'd9a14ad425586f268351d79eddccbcca'],
    ['abcdefg', 'f8db8b88105c59eaf2bf049b66fc6130'],
    ['abcdefgh', '24dec44fe666e246a850ba4ccb67c818'],
    ['abcdefghi', 'e567b78618a9e163d2c17c996ba8e3a9'],
    ['Ünïcödé \u{1F600}', '4e1890aa7a1d6682dcdbe132653f1dcc'],
    ['x'.repeat(1000), '17e7bed8140e4f7eb4bbf540cd587a8b'],
  ])('of %j', (text, hash) => {
    expect(hashText(text)).toBe(hash)
  })

  test('of a chain', () => {
    const one = chainHash('', 'a')
    expect([one, chainHash(one, 'b')]).toEqual([
      '7e9446ad9316252770fb3368e189f5a9',
      '3456a341b33de2463d87781211eb57ff',
    ])
  })
})

describe('a chain', () => {
  test('depends on order and on where one text ends and the next begins', () => {
    const chain = (...texts: string[]): string => texts.reduce(chainHash, '')
    expect(
      new Set([chain('a', 'b'), chain('b', 'a'), chain('ab'), chain('', 'ab'), chain('ab', '')]).size,
    ).toBe(5)
  })
})

function differingBits(a: string, b: string): number {
  let bits = 0
  for (let i = 0; i < a.length; i += 8) {
    let difference = (parseInt(a.slice(i, i + 8), 16) ^ parseInt(b.slice(i, i + 8), 16)) >>> 0
    for (; difference !== 0; difference &= difference - 1) bits++
  }
  return bits
}
