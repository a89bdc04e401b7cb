import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from './kit/cases.ts'
import { createCounter } from '../packages/palimpsest/src/lab/simulator/context/count.ts'
import { findModelFacts } from '../packages/palimpsest/src/wire/model-facts.ts'
import { isPlausiblePrompt } from '../packages/palimpsest/src/tokens/plausible-usage.ts'

const FACTS = findModelFacts('claude-opus-5-5')
if (!FACTS) throw new Error('no such model')
const COUNTER = createCounter(FACTS, 1, new Map())

describe('an honest count is believed, whatever the text is', () => {
  test.each([
    ['brackets', '['],
    ['brackets of two kinds', '[]{}'],
    ['ends of nested JSON', '"],["'],
    ['a ruler', '='],
    ['a border', '─'],
    ['a sequence of bases', 'GATTACA'],
    ['capitals', 'A'],
    ['blanks', ' '],
    ['tabs', '\t'],
    ['backslashes', '\\'],
    ['names of constants', 'ABCDEFGHIJKLMNO '],
  ])('%s', (_what, pattern) => {
    expect(isBelieved(pattern.repeat(Math.ceil(200_000 / pattern.length)))).toBe(true)
  })

  test('anything, many times', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 200_000 }),
        (one, chars) => {
          expect(isBelieved(one.repeat(Math.ceil(chars / one.length)))).toBe(true)
        },
      ),
      cases(25, 5_000),
    )
  })
})

test('a run of punctuation does not make everything believable', () => {
  const body = bodyOf(`${'The quick brown fox. '.repeat(2_000)}${'='.repeat(80)}`)
  expect(isPlausiblePrompt({ input_tokens: 190_000, output_tokens: 5 }, body, FACTS)).toBe(false)
})

function isBelieved(text: string): boolean {
  const tokens = COUNTER.textTokens(text)
  return isPlausiblePrompt({ input_tokens: tokens, output_tokens: 5 }, bodyOf(text), FACTS)
}

function bodyOf(text: string): string {
  return JSON.stringify({ model: FACTS?.id, max_tokens: 32_000, messages: [{ role: 'user', content: text }] })
}
