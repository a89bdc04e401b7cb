import fc from 'fast-check'
import { expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { toWellFormedJson } from './well-formed.ts'

test.each([
  [String.raw`"\ud83d\ude00"`, String.raw`"\ud83d\ude00"`],
  [String.raw`"\ud83d"`, String.raw`"\ufffd"`],
  [String.raw`"\ude00\ud83d"`, String.raw`"\ufffd\ufffd"`],
  [String.raw`"\ud83d\ud83d\ude00"`, String.raw`"\ufffd\ud83d\ude00"`],
  [String.raw`"\\ud83d"`, String.raw`"\\ud83d"`],
  [String.raw`"\\\ud83d"`, String.raw`"\\\ufffd"`],
  ['"\ud83dx"', '"\ufffdx"'],
])('%j becomes %j', (text, expected) => {
  expect(toWellFormedJson(text)).toBe(expected)
})

test('the output parses to the same value with every lone surrogate replaced, and converting it again changes nothing', () => {
  const anyText = fc.array(
    fc.constantFrom('\ud83d', '\ude00', 'a', '\\', '"', 'u', 'ud83d', '\n', '\ufffd', 'é', '😀'),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(anyText, fc.boolean(), (parts, isEscaped) => {
      const value = parts.join('')
      const printed = JSON.stringify(value)
      const text = isEscaped
        ? printed
        : printed.replaceAll(/(\\+)u(d[89a-f][0-9a-f]{2})/g, (whole, slashes: string, code: string) =>
            slashes.length % 2 === 1
              ? `${slashes.slice(1)}${String.fromCharCode(Number.parseInt(code, 16))}`
              : whole,
          )
      const sound = toWellFormedJson(text)
      expect(sound.isWellFormed()).toBe(true)
      expect(JSON.parse(sound)).toBe(value.toWellFormed())
      expect(toWellFormedJson(sound)).toBe(sound)
    }),
    cases(500, 100_000),
  )
})
