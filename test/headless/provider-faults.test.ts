import { expect, test } from 'vitest'

import { providerFaults, type ProviderFault } from '../kit/hostile/faults.ts'
import { complaintsAbout, createHostileBench, GOOD } from '../kit/hostile/hostile-bench.ts'

// Faults of a provider as raw bytes, through the command: each ends in an answer or in exactly one sentence, and the same session goes on with
// the next message. Thousands are made from a grammar; CI takes every so many, a soak all.

/** Of the faults, one in so many: spread over all kinds, because it divides none of their numbers. */
const CI_STRIDE = 101
/** Most of the time of a fault is waiting. */
const SIDE_BY_SIDE = 16

test('whatever a provider sends, a run ends in an answer or in one sentence, and the session goes on', async () => {
  const faults = providerFaults().filter(({ isBig }) => !isBig)
  const chosen = process.env['SOAK'] ? faults : faults.filter((_, i) => i % CI_STRIDE === 0)
  expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length)
  const wrong: string[] = []
  const queue = [...chosen]
  const work = async (): Promise<void> => {
    for (let fault = queue.shift(); fault; fault = queue.shift()) wrong.push(...(await liveThrough(fault)))
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work))
  expect(wrong).toEqual([])
})

async function liveThrough({ name, play }: ProviderFault): Promise<readonly string[]> {
  const bench = await createHostileBench()
  bench.server.faults.push(play)
  const ran = await bench.run(['-p', 'first'])
  bench.server.faults.length = 0
  const next = await bench.run(['-p', 'second', '--continue'])
  const isGood = next.exit === 0 && next.out === `${GOOD}\n`
  return [
    ...complaintsAbout(ran).map((complaint) => `${name}: ${complaint}`),
    ...(isGood ? [] : [`${name}: the next run: ${next.out}${next.err}`.slice(0, 500)]),
  ]
}
