import fc from 'fast-check'
import { expect, test } from 'vitest'

import { ANY_CHARACTER } from '../../../../../../test/kit/any-character.ts'
import { cases } from '../../../../../../test/kit/cases.ts'
import { matchQuote } from './match-quote.ts'
import { readQuestion } from './read-question.ts'

test('a question is split into names, words and expressions, each once', () => {
  const { concepts } = readQuestion('How many bytes does body.dump() read at most by default?')
  expect(concepts.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    'word many',
    'word bytes',
    'name body',
    'name dump',
    'word read',
    'word most',
    'word default',
    'expression max',
  ])
})

test('quoted texts are searched for as a whole', () => {
  expect(readQuestion('What throws "Invalid event target"? And connection: close?').quotes).toEqual([
    'Invalid event target',
    'connection: close',
  ])
})

test('adjacent words form pairs, unless a word separates them', () => {
  expect(readQuestion('Where is the retry delay of a client?').pairs).toEqual([['retri', 'delay']])
})

test('the wording tells what kind of line is wanted', () => {
  expect(readQuestion('How long by default?').wants).toMatchObject({
    number: true,
    fallback: true,
    reason: false,
  })
  expect(readQuestion('Why is an error thrown?').wants).toMatchObject({ refusal: true, reason: true })
})

test('a quote assembled at run time is found by its words in sequence', () => {
  expect(matchQuote('Duplicate value "7" found', 'throw new Error(`Duplicate value "${value}" found`)')).toBe(
    0,
  )
  expect(matchQuote('Proxy response (407) !== 200 when tunneling', '!== 200 when tunneling`)')).toBeCloseTo(
    0.5,
  )
  // A word inside a name is no word of a row.
  expect(matchQuote('found a long string', "FOUND_CHARS_MAX ? 'a long string' : value")).toBe(0.75)
  expect(matchQuote('No timeout provided.', "throw new TypeError('No timeout provided.')")).toBe(1)
})

test('any text can be a question', () => {
  fc.assert(
    fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 300 }), (text) => {
      for (const { share, parts } of readQuestion(text).concepts) {
        expect(share).toBeGreaterThanOrEqual(0)
        expect(parts.length).toBeGreaterThan(0)
      }
    }),
    cases(500, 100_000),
  )
})
