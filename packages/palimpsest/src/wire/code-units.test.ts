import fc from 'fast-check'
import { expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { codeUnits, UNITS_MAX } from './code-units.ts'

/** One at a time, as the language has them. */
function unitsOf(text: string): readonly number[] {
  return Array.from({ length: text.length }, (_, i) => text.charCodeAt(i))
}

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  // Halves of pairs alone, and the sign that stands for them.
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes)),
  fc
    .array(fc.constantFrom('\ufffd', '\ud83d', '\ude00', '😀', 'é', '漢', 'a'))
    .map((parts) => parts.join('')),
)

test('the units of any text are those of the string, including lone surrogates and the replacement character', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect([...codeUnits(text).subarray(0, text.length)]).toEqual(unitsOf(text))
    }),
    cases(500, 100_000),
  )
})

test('a text of the maximum length fits, whatever its characters need', () => {
  for (const one of ['a', 'é', '漢', '\ufffd', '\ud800']) {
    const text = one.repeat(UNITS_MAX)
    expect([...codeUnits(text)]).toEqual(unitsOf(text))
  }
  const pairs = '😀'.repeat(UNITS_MAX / 2)
  expect([...codeUnits(pairs)]).toEqual(unitsOf(pairs))
})
