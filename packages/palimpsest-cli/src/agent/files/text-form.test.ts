import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { fromUnits, toBytes, toTextForm, toUnits } from './text-form.ts'

describe('the form of a text', () => {
  test('any bytes that count as text come back unchanged', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 60 }),
        fc.constantFrom([], [0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xfe, 0xff]),
        (body, mark) => {
          const bytes = Uint8Array.from([...mark, ...body])
          const form = toTextForm(bytes)
          if (form !== undefined) expect(Buffer.from(toBytes(form)).equals(bytes)).toBe(true)
        },
      ),
      cases(500, 100_000),
    )
  })

  test.each([
    ['UTF-8', [0xc3, 0xa4, 0x0a], 'ä\n'],
    ['UTF-8 with a byte order mark', [0xef, 0xbb, 0xbf, 0x61], 'a'],
    ['UTF-16, little-endian', [0xff, 0xfe, 0x61, 0x00, 0xe4, 0x00], 'aä'],
    ['UTF-16, big-endian', [0xfe, 0xff, 0x00, 0x61, 0x00, 0xe4], 'aä'],
  ])('%s is read', (_, bytes, expected) => {
    const form = toTextForm(Uint8Array.from(bytes))
    expect(form && fromUnits(form.units, form.encoding)).toBe(expected)
  })

  test('a NUL byte or half a code unit is not text', () => {
    expect(toTextForm(Uint8Array.from([0x61, 0x00]))).toBeUndefined()
    expect(toTextForm(Uint8Array.from([0xff, 0xfe, 0x61]))).toBeUndefined()
  })

  test('a text comes back unchanged from its code units, in every encoding', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('utf-8' as const, 'utf-16le' as const),
        (text, encoding) => {
          expect(fromUnits(toUnits(text, encoding), encoding)).toBe(text)
        },
      ),
      cases(500, 100_000),
    )
  })
})
