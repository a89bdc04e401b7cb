import { globSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import {
  frozenHash,
  importsOf,
  isLeftOut,
  LEFT_OUT,
  measureFiles,
  measureHash,
  readLibraryFile,
} from '../bench/replay/measure-hash.ts'
import { LIBRARY, ROOT } from './kit/source-tree.ts'

const files = measureFiles()

test('the measure of the replay is the frozen one; bench/replay/measure-hash.ts says how to change it', () => {
  expect(measureHash()).toBe(frozenHash())
})

test.each(files)('a changed line of %s is a changed measure, unless it is a comment', (changed) => {
  const text = readLibraryFile(changed)
  const frozen = measureHash(() => text, [changed])
  expect(measureHash(() => `${text}void 0\n`, [changed])).not.toBe(frozen)
  expect(measureHash(() => `${text}/* a\n comment */ // and another\n`, [changed])).toBe(frozen)
})

test.each([
  ['lab/replay/size-model.ts', 'HIDDEN_TOKENS_DEFAULT = 20_000', 'HIDDEN_TOKENS_DEFAULT = 40_000'],
  ['lab/replay/run-strategy.ts', 'PLANS_MAX = 4', 'PLANS_MAX = 8'],
  ['tokens/text-weights.ts', '0.', '1.'],
])('what the measure imports is frozen with it: %s with %j', (changed, from, to) => {
  expect(readLibraryFile(changed)).toContain(from)
  const read = (name: string): string =>
    name === changed ? readLibraryFile(name).replace(from, to) : readLibraryFile(name)
  expect(measureHash(read)).not.toBe(measureHash())
})

test('every file of the replay is frozen or excluded with a reason, and so is everything that frozen files import', () => {
  const replay = globSync('lab/replay/**/*.ts', { cwd: join(ROOT, LIBRARY) })
  const imported = files.flatMap((name) => importsOf(name, readLibraryFile(name)))
  const known = new Set(files)
  const others = [...replay, ...imported].filter((name) => !known.has(name) && !name.endsWith('.test.ts'))
  expect(others.filter((name) => !isLeftOut(name))).toEqual([])
  const needless = LEFT_OUT.filter(({ place }) => !others.some((name) => name.startsWith(place)))
  expect(needless).toEqual([])
})

test.each([
  ['return x', 'return/*\n*/ x', 'a comment over two lines ends a statement'],
  ['typeof x', 'typeofx', 'separated words are two'],
  ['`a `', '`a`', 'space in a template'],
  ['`a \n b`', '`a\n b`', 'space at the end of a line of a template'],
  ["'a  b'", "'a b'", 'space in a string'],
  ["'/* a */'", "'/* b */'", 'what looks like a comment in a string'],
])('%j and %j are two measures: %s', (one, other) => {
  expect(hashOf(one)).not.toBe(hashOf(other))
})

test.each([
  ['return x', 'return/* of it */x'],
  ['f(\n  a,\n  b,\n)', 'f(\n  a, // first\n  // second\n\n  b,\n)'],
])('%j and %j are one measure', (one, other) => {
  expect(hashOf(one)).toBe(hashOf(other))
})

function hashOf(code: string): string {
  return measureHash(() => `const f = () => {\n${code}\n}\n`, ['a.ts'])
}
