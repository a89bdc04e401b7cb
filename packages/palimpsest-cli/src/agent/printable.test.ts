import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { ANY_CHARACTER } from '../../../../test/kit/any-character.ts'
import { cases } from '../../../../test/kit/cases.ts'
import { toPrintable, toPrintableLine } from './printable.ts'

describe('printable text', () => {
  test.each([
    ['plain ümläut 漢字 😀 👩\u200D💻 می\u200Cخواهم', 'plain ümläut 漢字 😀 👩\u200D💻 می\u200Cخواهم'],
    ['tab\tand\nline', 'tab\tand\nline'],
    ['\u001B[31mred\u001B[0m', '\\x1b[31mred\\x1b[0m'],
    ['\u001B]0;title\u0007', '\\x1b]0;title\\x07'],
    ['\u001B]52;c;ZXZpbA==\u001B\\', '\\x1b]52;c;ZXZpbA==\\x1b\\'],
    ['\u009B31m', '\\x9b31m'],
    ['over\rwrite', 'over\\x0dwrite'],
    ['crlf\r\nline', 'crlf\nline'],
    ['back\b\b\bspace\u007F\0', 'back\\x08\\x08\\x08space\\x7f\\x00'],
    ['evil\u202Etxt.exe', 'evil\\u202etxt.exe'],
    ['in\u200Bvis\uFEFFible', 'in\\u200bvis\\ufeffible'],
    ['tag\u{E0041}', 'tag\\u{e0041}'],
    ['half \uD800', 'half \\ud800'],
  ])('%j', (text, expected) => {
    expect(toPrintable(text)).toBe(expected)
  })

  test('never contains anything that a terminal obeys, and does not change the second time', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER }), (text) => {
        const printable = toPrintable(text)
        // oxlint-disable-next-line no-control-regex
        expect(printable).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
        expect(toPrintable(printable)).toBe(printable)
      }),
      cases(500, 100_000),
    )
  })
})

test('a line of JSON contains nothing that a terminal obeys, and reads back as the same value', () => {
  fc.assert(
    fc.property(fc.string({ unit: ANY_CHARACTER }), (text) => {
      const line = toPrintableLine({ text })
      // oxlint-disable-next-line no-control-regex
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
      expect(JSON.parse(line)).toEqual({ text })
    }),
    cases(500, 100_000),
  )
})
