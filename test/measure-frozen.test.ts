import { globSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { frozenHash, measureFiles, measureHash, readMeasureFile } from '../bench/replay/measure-hash.ts'

const REPLAY = join(import.meta.dirname, '../packages/palimpsest/src/lab/replay')

test('the measure of the replay is the frozen one; bench/replay/measure-hash.ts says how to change it', () => {
  expect(measureHash()).toBe(frozenHash())
})

test.each(measureFiles())('a changed line of %s is a changed measure, unless it is a comment', (changed) => {
  const withLine =
    (line: string) =>
    (name: string): string =>
      `${readMeasureFile(name)}${name === changed ? line : ''}`
  expect(measureHash(withLine('void 0\n'))).not.toBe(measureHash())
  expect(measureHash(withLine('/* a\n comment */ // and another\n'))).toBe(measureHash())
})

test('whoever of the replay works with the measure is frozen with it', () => {
  const users = globSync('**/*.ts', { cwd: REPLAY })
    .filter((name) => !name.endsWith('.test.ts') && name !== 'index.ts')
    .filter((name) => /from '(?:\.\.?\/)+measure\//.test(readMeasureFile(name)))
  expect(users.filter((name) => !measureFiles().includes(name))).toEqual([])
  expect(users).toContain('track-sight.ts')
})
