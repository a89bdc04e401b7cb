import { expect, test } from 'vitest'

import { findInvented } from '../proof/find-invented.ts'
import { headOf, tailOf } from './write-parts.ts'
import { writeWords } from './write-words.ts'

test('text is cut between words, unless a single word is too long', () => {
  expect(headOf('one two three', 9)).toBe('one two')
  expect(headOf('one two three', 7)).toBe('one two')
  expect(tailOf('one two three', 9)).toBe('two three')
  expect(tailOf('one two three', 7)).toBe('three')
  expect(headOf('x'.repeat(90), 40)).toBe('x'.repeat(40))
})

test('a shortened message says how to see all of it', () => {
  const words = [{ entry: '0000000e', text: 'word '.repeat(240), cut: { tail: 'the end', chars: 6_461 } }]
  expect(writeWords(words, 500, true).lines[0]).toMatch(
    /^- \[6461 characters; Recall id=0000000e shows all:\] word /,
  )
})

test('tags around a summary do not count as invented names', () => {
  expect(findInvented('<analysis>x</analysis> <summary>see src/made-up.ts</summary>', () => false)).toEqual([
    'src/made-up.ts',
  ])
})
