import fc from 'fast-check'
import createIgnore from 'ignore'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { matchPathPattern, parsePathPattern } from './path-pattern.ts'

function matches(pattern: string, path: string, ignoresCase = false): boolean {
  const parsed = parsePathPattern(pattern, ignoresCase)
  return parsed !== undefined && matchPathPattern(parsed, path).matches
}

/** What a .gitignore of this one line makes of the path. */
function isIgnored(pattern: string, path: string, ignoresCase: boolean): boolean {
  return createIgnore({ ignorecase: ignoresCase }).add(pattern).ignores(path)
}

/** Trying every way would take more steps than anybody could wait for at either size. */
const [PATTERN_PARTS, PATH_CHARS] = process.env['SOAK'] ? [1_000, 1_500] : [200, 300]

describe('patterns of paths', () => {
  test.each([
    ['x', 'a/x/b', true],
    ['/x', 'a/x', false],
    ['a/*', 'a/x/b', true],
    ['a/**', 'a', false],
    ['a/**', 'a/b/c', true],
    ['a/**/c', 'a/c', true],
    ['**/c', 'a/b/c', true],
    ['a/', 'a', false],
    ['a/', 'a/b', true],
    ['*.ts', 'a/b.ts', true],
    ['[!a]x', 'bx', true],
    ['[]a]x', ']x', true],
    ['[[:digit:]]', '7', true],
    [String.raw`new \[1\]\*.txt`, 'new [1]*.txt', true],
    ['?', '𝒳', true],
    ['[a', '[a', false],
    ['a\\', 'a\\', false],
    ['ä', 'a\u0308', true],
  ])('%j and %j: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected)
  })

  test('mean what they mean in a .gitignore', () => {
    const pattern = fc
      .array(
        fc.constantFrom(
          'a',
          'b',
          'B',
          '/',
          '*',
          '**',
          '?',
          '[',
          ']',
          '!',
          '-',
          '\\',
          '.',
          '[a-b]',
          '[!a]',
          ' ',
        ),
        {
          minLength: 1,
          maxLength: 7,
        },
      )
      .map((parts) => parts.join(''))
      // A slash that is escaped or between brackets is no folder's end to git, and nobody means it.
      .filter((text) => text.trim() !== '' && !/^[!#]|\\\/|\[[^/]*\//.test(text))
    const name = fc.stringMatching(/^[abB\]!. \\[-]{1,4}$/).filter((text) => !/^\.{1,2}$/.test(text))
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
    fc.assert(
      fc.property(pattern, path, fc.boolean(), (one, other, ignoresCase) => {
        expect(matches(one, other, ignoresCase)).toBe(isIgnored(one, other, ignoresCase))
      }),
      cases(500, 200_000),
    )
  })

  test('take no more steps per character of the path than the pattern has characters', () => {
    const parts = ['*a', '**/', 'a', '?', '[a-b]', '*?', '*a*', 'a*b', '*/', 'a*/']
    const paths = ['a', 'ab', 'a/', 'aaab/', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/'].map(
      (part) => `${part.repeat(PATH_CHARS / part.length)}c`,
    )
    for (const pattern of parts.flatMap((part) =>
      ['', 'b', '/b'].map((end) => `/${part.repeat(PATTERN_PARTS)}${end}`),
    ))
      for (const path of paths) {
        const parsed = parsePathPattern(pattern, true)
        const { steps } = parsed ? matchPathPattern(parsed, path) : { steps: 0 }
        expect(steps).toBeGreaterThan(0)
        expect(steps).toBeLessThanOrEqual(pattern.length * path.length)
      }
  })
})
