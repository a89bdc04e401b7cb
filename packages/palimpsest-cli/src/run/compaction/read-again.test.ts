import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { createWorkbench, type Workbench } from '../../../../../test/kit/workbench.ts'
import { readAgain } from './read-again.ts'

let bench: Workbench
beforeEach(async () => {
  bench = await createWorkbench()
  for (const name of ['a', 'b', 'c', 'd']) writeFileSync(join(bench.work, name), `text of ${name}`)
})
afterEach(() => bench.dispose())

test('files in view are not read again, and others are read in their place', async () => {
  expect(await namesOf(['a', 'b', 'c', 'd'], { inView: ['b'], filesMax: 3 })).toEqual(['a', 'c', 'd'])
})

test('files that are gone are skipped', async () => {
  expect(await namesOf(['gone', 'a', 'b', 'c'], { inView: [], filesMax: 2 })).toEqual(['a', 'b'])
})

async function namesOf(
  names: readonly string[],
  { inView, filesMax }: { readonly inView: readonly string[]; readonly filesMax: number },
): Promise<readonly string[]> {
  const read = bench.tools.find(({ name }) => name === 'Read')
  if (!read) throw new Error('no tool to read with')
  const wish = {
    files: names,
    visible: new Set(inView),
    filesMax,
    charsPerFile: 100,
    charsMax: 10_000,
    said: '',
  }
  const setup = {
    read,
    permit: bench.permitCall,
    cwd: bench.work,
    userHome: bench.home,
    leftOut: [],
    newId: () => 'id',
  }
  const files = await readAgain(wish, setup, new Set(), new AbortController().signal)
  return files.map(({ path }) => path.slice(bench.work.length + 1))
}
