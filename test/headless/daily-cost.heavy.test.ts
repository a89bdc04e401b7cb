import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createBench, put, text } from '../kit/headless.ts'

// Several processes of one project at once, each with a session of its own, on what is left of a day.

const IS_SOAK = process.env['SOAK'] !== undefined
/** Both would find enough for one, if they did not tell each other. */
const PROCESSES = IS_SOAK ? 8 : 2

test('processes that run in parallel together do not spend more than limits.dailyCostUsd', async () => {
  const answer = { content: [text('a short answer')] }
  const bench = await createBench({ script: Array.from({ length: 1 + 2 * PROCESSES }, () => answer) })
  // Each has a prefix of its own: none finds in the cache what another sent, so all cost the same, in whatever order they run.
  const ask = (words: string): readonly string[] => [
    ...['-p', words, '--output-format', 'json'],
    ...['--system-prompt', `You answer ${words}.`],
  ]
  expect(await bench.run(ask('the first'))).toMatchObject({ exit: 0 })
  const one = bench.simulator.stats().cost_usd
  // One more is paid for, and a part of the next: its prompt, and not what it may answer at most.
  const capUsd = 2.5 * one
  await put(join(bench.home, 'settings.json'), JSON.stringify({ limits: { dailyCostUsd: capUsd } }))
  const round = async (): Promise<readonly number[]> => {
    const all = Array.from({ length: PROCESSES }, (_, index) => bench.start(ask(`number ${index}`)))
    return (await Promise.all(all.map(({ ended }) => ended))).map(({ exit }) => exit ?? -1)
  }
  // Whoever comes later finds what the first have left; in CI one, inside of this process.
  const later = async (): Promise<readonly number[]> =>
    IS_SOAK ? await round() : [(await bench.run(ask('later'))).exit ?? -1]
  const codes = [...(await round()), ...(await later())]
  const answered = codes.filter((exit) => exit === 0).length
  expect({
    codes: [...new Set(codes)].toSorted((a, b) => a - b),
    isWithin: bench.simulator.stats().cost_usd <= capUsd,
  }).toEqual({
    codes: answered === 0 ? [1] : [0, 1],
    isWithin: true,
  })
  expect(bench.simulator.requests()).toHaveLength(1 + answered)
})
