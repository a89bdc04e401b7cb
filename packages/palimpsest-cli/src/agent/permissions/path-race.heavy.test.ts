import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { createWorkbench } from '../../../../../test/kit/workbench.ts'

// A program beside us swaps a folder of the project for a link and back, as fast as it can. Checks before a write cannot win this race;
// only a folder that is held open can.

const SWAP = `while :; do mv "$0/sub" "$0/aside"; ln -s "$1" "$0/sub"; rm "$0/sub"; mv "$0/aside" "$0/sub"; done`

test('(S1) while a folder is swapped for a link again and again, nothing is written through the link', async () => {
  const bench = await createWorkbench({ mode: 'accept-edits' })
  mkdirSync(join(bench.work, 'sub'))
  writeFileSync(join(bench.outside, 'seen.txt'), 'outside')
  const swapper = spawn('bash', ['-c', SWAP, bench.work, bench.outside], { stdio: 'ignore' })
  const results = { written: 0, refused: 0 }
  try {
    for (let i = 0; i < cases(25, 20_000).numRuns; i++) {
      const output = await bench.call('Write', { file_path: `sub/${i}.txt`, content: 'x' })
      if (output.isError === true) results.refused++
      else results.written++
    }
  } finally {
    swapper.kill('SIGKILL')
  }
  expect(readdirSync(bench.outside)).toEqual(['seen.txt'])
  expect(readdirSync(bench.outside, { withFileTypes: true }).every((entry) => entry.isFile())).toBe(true)
  expect(results.written + results.refused).toBeGreaterThan(0)
  await bench.dispose()
})
