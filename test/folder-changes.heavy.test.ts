import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** On a busy machine what nobody waits for may come between: it adds calls to one run, and to the next one not. */
const RUNS_MAX = 3

test('answering one question, from the stream to the results of the tools, changes the folder at most 60 times', async () => {
  const counted: number[] = []
  while (counted.length < RUNS_MAX && !counted.some((changes) => changes <= 60)) counted.push(await count())
  expect(Math.min(...counted)).toBeLessThanOrEqual(60)
})

async function count(): Promise<number> {
  const bench = ['--no-warnings', '--conditions=x-source', 'bench/folder-changes.ts']
  const stdout = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, bench, { cwd: ROOT }, (error, text) => {
      // More than the bound is an exit code of 1, with the count.
      if (text.includes('files to open')) resolve(text)
      else reject(error ?? new Error(`nothing was counted: ${text}`))
    })
  })
  const [, changes, most] = /files to open: (\d+), at most (\d+)/.exec(stdout) ?? []
  expect(Number(most)).toBe(60)
  expect(Number(changes)).toBeGreaterThan(0)
  return Number(changes)
}
