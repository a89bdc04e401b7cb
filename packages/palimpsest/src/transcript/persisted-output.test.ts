import { expect, test } from 'vitest'

import { findPersistedPath, renderPersisted, withElse, withoutRest } from './persisted-output.ts'

const size = 'This result has 60000 characters in 9 lines.'

test('the path is read back as it was written, spaces included', () => {
  const path = '/home/a b/.palimpsest/tool-results/toolu_1.txt'
  expect(findPersistedPath(renderPersisted({ size, path, rest: '\nIts beginning:\none' }))).toBe(path)
  expect(findPersistedPath(renderPersisted({ size, path, rest: '' }))).toBe(path)
})

test('without the rest, size and path remain; after that nothing more can be removed', () => {
  const bare = '[60000 characters, stored in /a b]'
  expect(withoutRest(renderPersisted({ size, path: '/a b', rest: '\nIts beginning:\none' }))).toBe(bare)
  expect(withoutRest(renderPersisted({ size, path: '/a b', rest: '' }))).toBe(bare)
  expect(withoutRest(bare)).toBeUndefined()
  expect(findPersistedPath(bare)).toBe('/a b')
})

test.each([
  '<persisted-output>\n60000 chars: /a b\n',
  '<persisted-output>\n60000 characters in /a b\n</persisted-output>',
  '<persisted-output>\n60000 characters, stored in /a b\n</persisted-output>',
])('%j of an earlier version is read', (text) => {
  expect(findPersistedPath(text)).toBe('/a b')
})

test('the text after a marker is replaced by something made from it', () => {
  const text = renderPersisted({ size, path: '/a', rest: '\nIts end:\nz\nIts beginning:\none' })
  const short = withElse(text, '\nIts beginning:\n', ({ before, after }) => `${before.length > 9} ${after}`)
  expect(short).toBe(renderPersisted({ size, path: '/a', rest: '\nIts end:\nztrue one' }))
  expect(withElse(text, 'no such mark', () => '')).toBeUndefined()
})

test.each(['', 'plain text', '<persisted-output>', '<persisted-output>\nno path'])(
  '%j is not a stored result',
  (text) => {
    expect([findPersistedPath(text), withoutRest(text), withElse(text, 'p', () => '')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  },
)
