import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { ScriptBlock, ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'
import { call, text } from '../kit/headless.ts'

// A round that no request has carried yet never pays for a summary: what is too much of it goes to disk, and only a conversation that is
// long without it is compacted.

const MODEL = 'claude-opus-5'
const ENV = { PALIMPSEST_MODEL: MODEL }
const SUMMARY: ScriptStep = {
  when: { source: 'compact' },
  content: [text('<summary>They read files.</summary>')],
  times: 99,
}

/** Files of so many characters, and the calls that read them all at once. */
async function layFiles({ folder }: CommandBench, sizes: readonly number[]): Promise<ScriptBlock[]> {
  await mkdir(join(folder, 'wide'))
  for (const [i, chars] of sizes.entries()) {
    const lines = Array.from(
      { length: Math.ceil(chars / 50) },
      (_, j) => `const value_${i}_${j} = compute(${j * 7}, 'of ${i}')`,
    )
    await writeFile(join(folder, 'wide', `${i}.ts`), lines.join('\n').slice(0, chars))
  }
  return sizes.map((_, i) =>
    i > 0
      ? call('Read', { file_path: `wide/${i}.ts` })
      : call('Bash', { command: `cat wide/${i}.ts`, description: 'Show it' }),
  )
}

function rounds(...contents: readonly (readonly ScriptBlock[])[]): ScriptStep[] {
  return contents.map((content) => ({ when: { source: 'main' }, content }))
}

type Round = readonly [what: string, sizes: readonly number[], window: number]

const ROUNDS: readonly Round[] = [
  ['four of 100,000 characters', Array.from({ length: 4 }, () => 100_000), 60_000],
  ['forty of 4,400', Array.from({ length: 40 }, () => 4_400), 60_000],
  ['one of 170,000', [170_000], 60_000],
  ['ten of 60,000', Array.from({ length: 10 }, () => 60_000), 200_000],
]
const FURTHER_ROUNDS: readonly Round[] = [
  ['twelve of 14,000', Array.from({ length: 12 }, () => 14_000), 60_000],
]

test.each(process.env['SOAK'] ? [...ROUNDS, ...FURTHER_ROUNDS] : ROUNDS)(
  'a first round with %s results causes no summary',
  async (_what, sizes, window) => {
    const bench = await createCommandBench()
    const calls = await layFiles(bench, sizes)
    bench.simulator.addSteps([SUMMARY, ...rounds(calls, [text('Read.')])])
    const ran = await bench.run(['-p', 'read them', '--window', String(window)], ENV)
    expect(ran).toMatchObject({ exit: 0, out: 'Read.\n' })
    expect(bench.asked('compact')).toHaveLength(0)
    expect(ran.err).toBe('')
    const [, second] = bench.asked('main')
    expect(second?.input_tokens).toBeLessThan(window)
  },
)

test('after a long conversation such a round is stored only as far as necessary, and one compaction makes the room', async () => {
  const bench = await createCommandBench()
  const calls = await layFiles(
    bench,
    Array.from({ length: 12 }, () => 5_000),
  )
  const words = (name: string) =>
    Array.from({ length: 400 }, (_, i) => `${name}: sentence ${i} of it.`).join('\n')
  const said = Array.from({ length: 8 }, (_, i) => [
    text(words(`part ${i}`)),
    call('Read', { file_path: `part-${i}.txt` }),
  ])
  bench.simulator.addSteps([SUMMARY, ...rounds(...said, calls, [text('Read.')])])
  const ran = await bench.run(['-p', 'talk, then read', '--window', '60000'], ENV)
  expect(ran).toMatchObject({ exit: 0, out: 'Read.\n' })
  expect(bench.asked('compact')).toHaveLength(1)
  expect(ran.err.match(/^compacted: .*$/gm)).toEqual([expect.stringContaining('by summary')])
})
