import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { replaceText } from './replace-text.ts'

describe('replacing text', () => {
  test('replaces the one occurrence and says where', () => {
    expect(replaceText('a\nb\nc\n', 'b', 'x', false)).toEqual({
      ok: true,
      text: 'a\nx\nc\n',
      count: 1,
      lines: [2],
    })
  })

  test('refuses a text that occurs more than once, counting overlapping occurrences', () => {
    expect(replaceText('aaa', 'aa', 'b', false)).toEqual({
      ok: false,
      kind: 'not-unique',
      count: 2,
      lines: [1, 1],
    })
  })

  test('replaces all occurrences that do not overlap, from the left', () => {
    expect(replaceText('aaa', 'aa', 'b', true)).toMatchObject({ ok: true, text: 'ba', count: 1 })
  })

  test('treats nothing in the new text as a pattern', () => {
    expect(replaceText('price', 'price', "$& $1 $' \\1", false)).toMatchObject({ text: "$& $1 $' \\1" })
  })

  test.each([
    ['several lines in a file with CRLF', 'a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz', 'x\r\ny\r\nz\r\nc\r\n'],
    ['one line becomes several', 'a\r\nb\r\n', 'a', 'x\ny', 'x\r\ny\r\nb\r\n'],
    ['the last line without a line ending', 'a\r\nb', 'b', 'x\ny', 'a\r\nx\r\ny'],
    ['a match that begins with a line ending', 'a\r\nb\r\n', '\nb', '\nc', 'a\r\nc\r\n'],
    ['a lone line ending of another kind stays', 'a\nb\r\nc\n', 'b', 'x\ny', 'a\nx\r\ny\r\nc\n'],
    ['LF stays LF', 'a\nb\n', 'a\nb', 'x\ny', 'x\ny\n'],
  ])('keeps line endings: %s', (_, text, old, fresh, expected) => {
    expect(replaceText(text, old, fresh, false)).toMatchObject({ ok: true, text: expected })
  })

  test('treats both kinds of line ending as the same text', () => {
    expect(replaceText('a\nb\na\r\nb\n', 'a\nb', 'x', false)).toMatchObject({
      kind: 'not-unique',
      count: 2,
      lines: [1, 3],
    })
  })

  const small = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r\n'), maxLength: 30 })
  const needle = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength: 1, maxLength: 4 })

  test('in a text without carriage returns, exactly one place changes or none, and the rest stays the same', () => {
    const plain = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 30 })
    fc.assert(
      fc.property(
        plain,
        needle,
        fc.string({ unit: fc.constantFrom('x', 'y', '\n'), maxLength: 4 }),
        (text, old, fresh) => {
          const places = Array.from({ length: text.length }, (_, at) => at).filter((at) =>
            text.startsWith(old, at),
          )
          const result = replaceText(text, old, fresh, false)
          if (places.length === 0) expect(result).toEqual({ ok: false, kind: 'not-found' })
          else if (places.length > 1)
            expect(result).toMatchObject({ ok: false, kind: 'not-unique', count: places.length })
          else
            expect(result).toMatchObject({
              ok: true,
              text: text.slice(0, places[0]) + fresh + text.slice((places[0] ?? 0) + old.length),
            })
        },
      ),
      cases(500, 100_000),
    )
  })

  test('a file with CRLF throughout keeps it, and an edit gives the same text as in a file with LF', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 30 }),
        needle,
        fc.boolean(),
        (text, old, all) => {
          const withLf = replaceText(text, old, 'x\ny', all)
          const withCrlf = replaceText(text.replaceAll('\n', '\r\n'), old, 'x\ny', all)
          expect(withCrlf.ok).toBe(withLf.ok)
          // A text without any line end shows no kind of line end to keep.
          if (withCrlf.ok && withLf.ok && text.includes('\n')) {
            expect(withCrlf.text).toBe(withLf.text.replaceAll('\n', '\r\n'))
            expect(withCrlf.lines).toEqual(withLf.lines)
          }
        },
      ),
      cases(500, 100_000),
    )
  })

  test('replace_all leaves none of the old text, unless the new text contains it', () => {
    fc.assert(
      fc.property(small, needle, (text, old) => {
        const result = replaceText(text, old, '#', true)
        if (result.ok) expect(result.text.replaceAll('\r\n', '\n').includes(old)).toBe(false)
      }),
      cases(500, 100_000),
    )
  })
})
