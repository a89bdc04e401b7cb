import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { escapeWildcard, matchesWildcard, matchWildcard, parseWildcard, fullBounds } from './wildcard.ts'

/** Every way to part the text among the stars, tried one after the other. */
function matchesSlowly([part = '', ...others]: readonly string[], text: string): boolean {
  if (others.length === 0) return part === text
  if (!text.startsWith(part)) return false
  const rest = text.slice(part.length)
  return Array.from({ length: rest.length + 1 }, (_, taken) => rest.slice(taken)).some((end) =>
    matchesSlowly(others, end),
  )
}

/** Work that grew with the square would be hundreds of times the bound at either size. */
const [PARTS, TEXT_PARTS] = process.env['SOAK'] ? [1_500, 10_000] : [200, 1_000]

describe('patterns with stars', () => {
  test.each([
    ['a*c', ['a', 'c']],
    [String.raw`a\*c`, ['a*c']],
    [String.raw`a\\*`, [String.raw`a\ `.trim(), '']],
    [String.raw`echo \(\)`, ['echo ()']],
    [String.raw`a\nb\ `.trim(), [String.raw`a\nb\ `.trim()]],
    ['', ['']],
  ])('%j is read as %j', (pattern, parts) => {
    expect(parseWildcard(pattern)).toEqual(parts)
  })

  test('match what an exhaustive search matches', () => {
    const part = fc.stringMatching(/^[ab]{0,3}$/)
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 4 }),
        fc.stringMatching(/^[abc]{0,9}$/),
        (wildcard, text) => {
          expect(matchesWildcard(wildcard, text)).toBe(matchesSlowly(wildcard, text))
        },
      ),
      cases(500, 200_000),
    )
  })

  test('find a part at any place where a match may begin and end', () => {
    const part = fc.stringMatching(/^[ab]{0,3}$/)
    const places = fc.uniqueArray(fc.nat(9), { maxLength: 4 })
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.stringMatching(/^[ab]{0,9}$/),
        places,
        places,
        (wildcard, text, starts, ends) => {
          const bounds = {
            startsAt: (at: number) => starts.includes(at),
            endsAt: (at: number) => ends.includes(at),
          }
          const isThere = starts.some((start) =>
            ends.some(
              (end) => start <= end && end <= text.length && matchesSlowly(wildcard, text.slice(start, end)),
            ),
          )
          expect(matchWildcard(wildcard, text, bounds).matches).toBe(isThere)
        },
      ),
      cases(500, 200_000),
    )
  })

  test('an escaped text matches itself and nothing else', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '*', '\\', '(', ')', ':', ' ', '\n', '"'),
      maxLength: 8,
    })
    fc.assert(
      fc.property(text, text, (one, other) => {
        const wildcard = parseWildcard(escapeWildcard(one))
        expect(wildcard).toEqual([one])
        expect(matchesWildcard(wildcard, other)).toBe(one === other)
      }),
      cases(500, 100_000),
    )
  })

  test('compare each character of pattern and text a fixed number of times', () => {
    const parts = ['a*', 'a', '*a', 'ab*', 'aab', ' a *', 'a*a*b', '*', 'abcabcabd*']
    const texts = ['a', 'ab', 'aab', ' a ', 'abcabcabc', ' ']
    for (const pattern of parts.flatMap((part) => ['', 'zz', 'a'].map((end) => part.repeat(PARTS) + end)))
      for (const text of texts.map((part) => `${part.repeat(TEXT_PARTS)}y`)) {
        const { steps } = matchWildcard(parseWildcard(pattern), text, fullBounds(text))
        expect(steps).toBeLessThanOrEqual(2 * text.length + 2 * pattern.length)
      }
  })
})
