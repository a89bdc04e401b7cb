import { describe, expect, test } from 'vitest'

import { extractQuoted, extractTokens } from './extract.ts'

const classesOf = (text: string): string[] =>
  extractTokens(text).map((token) => `${token.class} ${token.text}`)

describe('distinctive tokens', () => {
  test.each([
    ['see https://example.org/a?b=1, then', ['url https://example.org/a?b=1']],
    ['open /srv/app/main.py:12 now', ['path /srv/app/main.py']],
    ['in ./lib/core.ts.', ['path ./lib/core.ts']],
    ['C:\\work\\app\\run.bat fails', ['path C:\\work\\app\\run.bat']],
    ['edit server.go, please', ['file server.go']],
    [
      'commit 9f2c1ab and 3fa85f64-5717-4562-b3fc-2c963f66afa6',
      ['hash 9f2c1ab', 'hash 3fa85f64-5717-4562-b3fc-2c963f66afa6'],
    ],
    ['ENOENT and TS2345 at 0xdeadbeef', ['error ENOENT', 'error TS2345', 'error 0xdeadbeef']],
    ['closes #123 and ENT-42', ['issue #123', 'issue ENT-42']],
    ['with --dry-run', ['flag --dry-run']],
    [
      'fooBar, FooBar, foo_bar, FOO_BAR',
      ['symbol fooBar', 'symbol FooBar', 'symbol foo_bar', 'symbol FOO_BAR'],
    ],
    ['strategy.Create and std::vector', ['symbol strategy.Create', 'symbol std::vector']],
    ['port 5432 or 3.14', ['number 5432', 'number 3.14']],
  ])('%s', (text, expected) => {
    expect(classesOf(text)).toEqual(expected)
  })

  test.each([
    'plain words and/or prose, read/write, 1/2',
    'round numbers 100, 120, 4000, the year 2025, small 12 and 0.5',
    'README.md, package.json and console.log are everywhere',
    'i.e. this, e.g. that',
  ])('no tokens in: %s', (text) => {
    expect(classesOf(text)).toEqual([])
  })

  test('each is at its stated position', () => {
    const text = 'a fooBar in /srv/x/y.ts: see #77 (9f2c1ab)'
    for (const token of extractTokens(text)) expect(text.startsWith(token.text, token.at)).toBe(true)
  })

  test('quoted strings count if they contain no other token', () => {
    const text = 'grep "not found" and "fooBar is missing" and "word"'
    expect(extractQuoted(text, extractTokens(text)).map((token) => token.text)).toEqual(['not found'])
  })
})
