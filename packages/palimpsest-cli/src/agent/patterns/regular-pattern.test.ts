import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { matchRegularPattern, parseRegularPattern } from './regular-pattern.ts'

/** Undefined for what is no pattern. */
function matches(source: string, text: string): boolean | undefined {
  const pattern = parseRegularPattern(source)
  return pattern && matchRegularPattern(pattern, text).matches
}

/** Trying every way would take more steps than anybody could wait for at either size. */
const TEXT_CHARS = process.env['SOAK'] ? 3_000 : 600

describe('regular expressions of settings', () => {
  test.each([
    ['Edit|Write', 'Write', true],
    ['Edit|Write', 'Edits', false],
    ['mcp__.*', 'mcp__server__tool', true],
    ['^(auto|manual)$', 'auto', true],
    ['a{2,3}', 'aaaa', false],
    ['(?:ab)+?c', 'ababc', true],
    ['[^a-c\\d]', 'x', true],
    ['[]', 'x', false],
    ['[^]', '\n', true],
    ['\\.', 'x', false],
    ['', '', true],
    ['.', '𝒳', true],
    ['(?=a)a', 'a', undefined],
    ['(?<x>a)', 'a', undefined],
    ['(a)\\1', 'aa', undefined],
    ['\\bauto', 'auto', undefined],
    ['a**', 'a', undefined],
    ['a{2,1}', 'a', undefined],
    ['(', '', undefined],
    [')', '', undefined],
    ['[a', 'a', undefined],
    ['a\\', 'a', undefined],
    ['(((a{100}){100}){100}){100}', 'a', undefined],
    ['('.repeat(2_000), 'a', undefined],
  ])('%j and %j: %s', (source, text, expected) => {
    expect(matches(source, text)).toBe(expected)
  })

  test('match what native regular expressions match', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '.',
      '[ab]',
      '[^a]',
      '\\w',
      '\\d',
      '(a|b)',
      '(?:ab)',
      '(a*)',
      '^',
      '$',
      '(|b)',
    )
    const source = fc
      .array(fc.tuple(atom, fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,2}', '{1,}', '*?', '|')), {
        maxLength: 5,
      })
      .map((parts) => parts.flat().join(''))
    fc.assert(
      fc.property(source, fc.stringMatching(/^[abc1]{0,6}$/), (one, text) => {
        const found = matches(one, text)
        if (found !== undefined) expect(found).toBe(new RegExp(`^(?:${one})$`, 'u').test(text))
      }),
      cases(500, 100_000),
    )
  })

  test.each([
    '(a+)+b',
    '(a|a)*b',
    '(.*)*(.*)*(.*)*(.*)*(.*)*b',
    '(a?){30}a{30}',
    '(((a*)*)*)*b',
    '(a|b|ab)*c',
    `${'a?'.repeat(TEXT_CHARS / 2)}b`,
  ])('%j takes steps in proportion to the length of pattern and text', (source) => {
    const pattern = parseRegularPattern(source) ?? []
    const text = 'a'.repeat(TEXT_CHARS)
    const { steps } = matchRegularPattern(pattern, text)
    expect(pattern.length).toBeGreaterThan(0)
    expect(steps).toBeLessThanOrEqual((pattern.length + 1) * (text.length + 1))
  })
})
