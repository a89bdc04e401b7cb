import fc from 'fast-check'
import { expect, test } from 'vitest'

import { cases } from '../../../../../../test/kit/cases.ts'
import { createLineSplitter } from './lines.ts'

test('the lines are the same however the text is cut into chunks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.constant('\n'), fc.constant('\r\n'), fc.constant('{"a":1}'))),
      (chunks) => {
        expect(linesOf(chunks)).toEqual(linesOf([chunks.join('')]))
      },
    ),
    cases(500, 100_000),
  )
})

test('lines are numbered from 1, and exclude line ends and a byte order mark', () => {
  expect(linesOf(['\uFEFFfirst\r\nsec', 'ond\n', '\nlast'])).toEqual(['1 first', '2 second', '3 ', '4 last'])
})

test('a line over the limit is named and skipped, and the next one is read', () => {
  expect(linesOf(['abc', 'defghijkl', 'mno\nshort\n', 'toolonghere'], 10)).toEqual([
    '1 too long',
    '2 short',
    '3 too long',
  ])
})

function linesOf(chunks: readonly string[], charsMax?: number): string[] {
  const lines: string[] = []
  const splitter = createLineSplitter(
    {
      line: (text, number) => lines.push(`${number} ${text}`),
      tooLong: (number) => lines.push(`${number} too long`),
    },
    charsMax,
  )
  for (const chunk of chunks) splitter.push(chunk)
  splitter.end()
  return lines
}
