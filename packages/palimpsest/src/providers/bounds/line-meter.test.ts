import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { ProviderError } from '../../errors.ts'
import { JSON_DEPTH_MAX as DEPTH_MAX } from '../../wire/json-depth.ts'
import { LINE_BYTES_MAX } from './answer-limits.ts'
import { createLineMeter } from './line-meter.ts'

describe('a stream of events is measured', () => {
  test('the places where its bytes are split make no difference', () => {
    const pieces = fc.array(
      fc.constantFrom(
        'data:',
        'data: ',
        '[',
        ']',
        '{"a":',
        '}',
        '"',
        '\\',
        '\n',
        '\r\n',
        '\r',
        ': [',
        'event: [',
      ),
      { maxLength: 400 },
    )
    fc.assert(
      fc.property(pieces, fc.array(fc.nat({ max: 40 })), (parts, cuts) => {
        const bytes = Buffer.from(parts.join(''))
        expect(verdict(cutAt(bytes, cuts))).toEqual(verdict([bytes]))
      }),
      cases(100, 20_000),
    )
  })

  test('exactly as many levels as stated are allowed', () => {
    const nested = (levels: number): string => `data: ${'['.repeat(levels)}${']'.repeat(levels)}\n\n`
    expect(verdict([Buffer.from(nested(DEPTH_MAX).repeat(3))])).toBe(false)
    expect(verdict([Buffer.from(nested(DEPTH_MAX + 1))])).toMatch(/nested more than 100 levels/)
  })

  test('levels add up over the data lines of one event, whatever comes between them', () => {
    const half = '['.repeat(DEPTH_MAX - 10)
    for (const between of ['\n', '\r\n', '\r', '\nevent: ]]]]\n', '\n: ]]]]"]\n', '\nid: "\n']) {
      const text = `data: ${half}${between}data: ${half}\n\n`
      expect(verdict([Buffer.from(text)])).toMatch(/nested more/)
      expect(verdict([Buffer.from(`\ufeff${text}`)])).toMatch(/nested more/)
    }
    expect(verdict([Buffer.from(`data: ${half}\n\ndata: ${half}\n\n`)])).toBe(false)
  })

  test('brackets in strings do not count as levels', () => {
    const text = JSON.stringify({ partial_json: '[{"a\\"[":'.repeat(5_000) })
    expect(verdict([Buffer.from(`data: ${text}\n\n`)])).toBe(false)
  })

  test('a line of the maximum length is read, one byte more is not', () => {
    const line = Buffer.alloc(LINE_BYTES_MAX, 'x')
    expect(verdict([line, Buffer.from('\n'), line])).toBe(false)
    expect(verdict([line, Buffer.from('x')])).toMatch(/longer than 8 MB/)
  })

  test.each([
    ['data: [DONE]\n', true],
    ['data:[DONE]\r\n', true],
    ['data:   [DONE]\r', true],
    ['data: [DONE]', false],
    ['data: [DONE]x\n', false],
    ['data: "[DONE]"\n', false],
    [': [DONE]\n', false],
    ['data: {"a":"[DONE]"}\n\n', false],
  ])('%j marks the end: %s', (text, isDone) => {
    expect(verdict([Buffer.from(text)])).toBe(isDone)
  })
})

/** Whether it is done, or what is wrong. */
function verdict(pieces: readonly Uint8Array[]): boolean | string {
  const measure = createLineMeter()
  try {
    return pieces.map((piece) => measure(piece)).some(Boolean)
  } catch (error) {
    return error instanceof ProviderError ? error.message : String(error)
  }
}

function cutAt(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const pieces: Uint8Array[] = []
  let from = 0
  for (const length of cuts) {
    pieces.push(bytes.subarray(from, from + length))
    from += length
  }
  return [...pieces, bytes.subarray(from)]
}
