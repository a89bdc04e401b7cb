import {
  chmodSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createWorkbench, type Workbench } from '../../../../../test/kit/workbench.ts'
import { createCheckpoints } from './checkpoints.ts'
import { planRestore, restoreFiles, type RestoreOutcome } from './restore-files.ts'

let bench: Workbench
beforeEach(async () => {
  bench = await createWorkbench({ mode: 'accept-edits' })
})
afterEach(() => bench.dispose())

const store = () => createCheckpoints({ sessionFolder: bench.sessionFolder, now: () => 5 })
const path = (name: string): string => join(bench.work, name)
const content = (name: string): string => readFileSync(path(name), 'utf8')

async function restore(
  toolUseIds: readonly string[],
  restoreId = 'rewind_1',
): Promise<readonly RestoreOutcome[]> {
  const checkpoints = store()
  return restoreFiles(planRestore(await checkpoints.list(), new Set(toolUseIds)), checkpoints, restoreId)
}

/** Calls are numbered from 1. */
async function work(): Promise<void> {
  writeFileSync(path('old.txt'), 'first')
  chmodSync(path('old.txt'), 0o640)
  await bench.call('Read', { file_path: 'old.txt' }) // toolu_1
  await bench.call('Edit', { file_path: 'old.txt', old_string: 'first', new_string: 'second' }) // toolu_2
  await bench.call('Write', { file_path: 'sub/new.txt', content: 'made' }) // toolu_3
  await bench.call('Edit', { file_path: 'old.txt', old_string: 'second', new_string: 'third' }) // toolu_4
}

describe('checkpoints', () => {
  test('keep what a file held before each write, for its owner only', async () => {
    await work()
    const list = await store().list()
    expect(list.map(({ toolUseId, path: file, before }) => [toolUseId, file, before?.mode])).toEqual([
      ['toolu_2', path('old.txt'), 0o100640],
      ['toolu_3', path('sub/new.txt'), undefined],
      ['toolu_4', path('old.txt'), 0o100640],
    ])
    expect(Buffer.from(await store().contentOf(list[0]?.before?.hash ?? '')).toString()).toBe('first')
    const folder = join(bench.sessionFolder, 'checkpoints', 'files')
    expect(statSync(join(bench.sessionFolder, 'checkpoints')).mode & 0o777).toBe(0o700)
    expect(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([
      0o600, 0o600,
    ])
  })

  test('store equal contents once', async () => {
    for (let round = 0; round < 3; round++) {
      writeFileSync(path('a.txt'), 'same')
      await bench.call('Read', { file_path: 'a.txt' })
      await bench.call('Write', { file_path: 'a.txt', content: `new ${round}` })
    }
    expect(readdirSync(join(bench.sessionFolder, 'checkpoints', 'files'))).toHaveLength(1)
  })

  test('a torn last line counts as a write that never happened', async () => {
    await work()
    const log = join(bench.sessionFolder, 'checkpoints', 'log.jsonl')
    const whole = readFileSync(log, 'utf8')
    for (const cut of [2, 10, 100]) {
      writeFileSync(log, whole.slice(0, -cut))
      expect(await store().list()).toHaveLength(2)
      await store().keep({ toolUseId: 'next', path: path('x'), before: null, after: null })
      expect((await store().list()).map(({ toolUseId }) => toolUseId)).toEqual(['toolu_2', 'toolu_3', 'next'])
    }
  })
})

describe('restoring', () => {
  test('gives files the content and mode that they had before the calls', async () => {
    await work()
    expect(await restore(['toolu_2', 'toolu_3', 'toolu_4'])).toEqual([
      { path: path('old.txt'), kind: 'restored' },
      { path: path('sub/new.txt'), kind: 'removed' },
    ])
    expect(content('old.txt')).toBe('first')
    expect(statSync(path('old.txt')).mode & 0o777).toBe(0o640)
    expect(existsSync(path('sub/new.txt'))).toBe(false)
  })

  test('can go back part of the way', async () => {
    await work()
    await restore(['toolu_4'])
    expect(content('old.txt')).toBe('second')
    expect(content('sub/new.txt')).toBe('made')
  })

  test('can be undone like any other change', async () => {
    await work()
    await restore(['toolu_2', 'toolu_3', 'toolu_4'], 'rewind_1')
    expect(await restore(['rewind_1'], 'rewind_2')).toEqual([
      { path: path('old.txt'), kind: 'restored' },
      { path: path('sub/new.txt'), kind: 'restored' },
    ])
    expect([content('old.txt'), content('sub/new.txt')]).toEqual(['third', 'made'])
  })

  test('recreates a file that we removed since, and leaves alone a file that others changed', async () => {
    await work()
    writeFileSync(path('old.txt'), 'by somebody else')
    rmSync(path('sub/new.txt'))
    expect(await restore(['toolu_2', 'toolu_3'])).toEqual([
      { path: path('old.txt'), kind: 'changed-by-others' },
      { path: path('sub/new.txt'), kind: 'unchanged' },
    ])
    expect(content('old.txt')).toBe('by somebody else')
  })

  test('(S1) does not follow a folder that became a link', async () => {
    await work()
    writeFileSync(join(bench.outside, 'new.txt'), 'made')
    rmSync(path('sub'), { recursive: true })
    symlinkSync(bench.outside, path('sub'))
    expect(await restore(['toolu_3'])).toMatchObject([{ path: path('sub/new.txt'), kind: 'failed' }])
    expect(readFileSync(join(bench.outside, 'new.txt'), 'utf8')).toBe('made')
  })

  test('(S1) does not write through a file that became a link', async () => {
    await work()
    writeFileSync(join(bench.outside, 'target.txt'), 'third')
    rmSync(path('old.txt'))
    symlinkSync(join(bench.outside, 'target.txt'), path('old.txt'))
    expect(await restore(['toolu_2', 'toolu_4'])).toMatchObject([{ kind: 'failed' }])
    expect(readFileSync(join(bench.outside, 'target.txt'), 'utf8')).toBe('third')
  })
})
