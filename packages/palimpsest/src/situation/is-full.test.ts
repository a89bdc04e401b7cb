import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { LIBRARY, ROOT } from '../../../../test/kit/source-tree.ts'
import { fullAt, isFull, roomUntilFull } from './is-full.ts'

test('a window is full at its threshold and from there on; what stands before the messages takes of the room', () => {
  const thresholds = { auto: 1_000 }
  expect([999, 1_000, 1_001].map((size) => isFull(size, thresholds))).toEqual([false, true, true])
  expect(fullAt(thresholds)).toBe(1_000)
  expect([0, 400, 2_000].map((prefix) => roomUntilFull(thresholds, prefix))).toEqual([1_000, 600, 0])
})

/** Reads the threshold itself, instead of asking. */
const READS_THRESHOLD = /[tT]hresholds\??\.auto\b|\bauto\b[^\n]*\} = [\w.]*[tT]hresholds\b/

test('outside of this folder nobody reads the threshold: changing when the window is full changes one function', () => {
  const readers = globSync(`${LIBRARY}/**/*.ts`, { cwd: ROOT })
    .filter((path) => !path.endsWith('.test.ts') && !path.startsWith(`${LIBRARY}/situation/`))
    .filter((path) => READS_THRESHOLD.test(readFileSync(join(ROOT, path), 'utf8')))
  expect(readers).toEqual([])
  expect('const { auto } = settings.thresholds').toMatch(READS_THRESHOLD)
})
