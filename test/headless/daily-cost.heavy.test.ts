import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createBench, put, text } from '../kit/headless.ts'

// Several processes of one project at once, each with a session of its own, on what is left of a day.

const PROCESSES = process.env['SOAK'] === undefined ? 3 : 8
/** They find what the first have left. */
const LATER = process.env['SOAK'] === undefined ? 1 : PROCESSES

test('together, processes that run at once do not spend more than limits.dailyCostUsd', async () => {
  const answer = { content: [text('a short answer')] }
  const bench = await createBench({ script: Array.from({ length: 1 + PROCESSES + LATER }, () => answer) })
  expect(await bench.run(['-p', 'the first', '--output-format', 'json'])).toMatchObject({ exit: 0 })
  const one = bench.simulator.stats().cost_usd
  // One more is paid for, and a part of the next: its prompt, and not what it may answer at most.
  const capUsd = 2.5 * one
  await put(join(bench.home, 'settings.json'), JSON.stringify({ limits: { dailyCostUsd: capUsd } }))
  const round = async (count: number): Promise<readonly number[]> => {
    const all = Array.from({ length: count }, (_, index) =>
      bench.start(['-p', `number ${index}`, '--output-format', 'json']),
    )
    return (await Promise.all(all.map(({ ended }) => ended))).map(({ exit }) => exit ?? -1)
  }
  const codes = [...(await round(PROCESSES)), ...(await round(LATER))]
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
