import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { filesBelow } from './files-below.ts'

const folder = mkdtempSync(join(tmpdir(), 'files-below-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('links to files count, links to folders are not followed, and broken links are ignored', async () => {
  mkdirSync(join(folder, 'deep/er'), { recursive: true })
  writeFileSync(join(folder, 'one.jsonl'), '12345')
  writeFileSync(join(folder, 'deep/er/two.jsonl'), '')
  writeFileSync(join(folder, 'deep/other.txt'), '')
  symlinkSync('..', join(folder, 'deep/up.jsonl'))
  symlinkSync('../one.jsonl', join(folder, 'deep/link.jsonl'))
  symlinkSync('/no/such/file', join(folder, 'dangling.jsonl'))
  const found = await filesBelow(folder, ['.jsonl'])
  expect(found.map(({ path }) => relative(folder, path)).toSorted()).toEqual([
    'deep/er/two.jsonl',
    'deep/link.jsonl',
    'one.jsonl',
  ])
  expect(found.find(({ path }) => path.endsWith('one.jsonl'))?.bytes).toBe(5)
})

test('a folder that cannot be read is listed in place of its files', async () => {
  const path = join(folder, 'one.jsonl', 'nothing-can-be-below')
  expect(await filesBelow(path, ['.jsonl'])).toEqual([{ path, bytes: 0, changedAt: 0 }])
})
