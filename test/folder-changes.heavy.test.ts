import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

test('who follows one question from its stream to the results of its tools changes the folder at most 60 times', async () => {
  const bench = ['--no-warnings', '--conditions=x-source', 'bench/folder-changes.ts']
  const { stdout } = await promisify(execFile)(process.execPath, bench, { cwd: ROOT })
  const [, changes, most] = /files to open: (\d+), at most (\d+)/.exec(stdout) ?? []
  expect(Number(most)).toBe(60)
  expect(Number(changes)).toBeLessThanOrEqual(60)
})
