import { expect, test } from 'vitest'

import { CHAT } from '../kit/hostile/answer-events.ts'
import { faultsIn, providerFaults } from '../kit/hostile/faults.ts'
import type { ProviderFault } from '../kit/hostile/plays.ts'
import {
  complaintsAbout,
  createHostileBench,
  createHostileChatBench,
  GOOD,
  type HostileBench,
} from '../kit/hostile/hostile-bench.ts'

// Faults of a provider as raw bytes, through the command: each ends in an answer or in exactly one sentence, and the same session goes on with
// the next message. Thousands are made from a grammar; CI takes every so many, a soak all.

/** Of the faults, one in so many: spread over all kinds, because it divides none of their numbers. Half of all are cuts, one for each byte. */
const CI_STRIDE = 503
const CI_STRIDE_OF_CUTS = 1_409
/** Most of the time of a fault is waiting. */
const SIDE_BY_SIDE = 16

interface Place {
  readonly bench: Omit<HostileBench, 'simulator'>
  /** Whom it asks. */
  readonly flags: readonly string[]
}

async function messagesPlace(): Promise<Place> {
  return { bench: await createHostileBench(), flags: [] }
}

async function chatPlace(): Promise<Place> {
  const bench = await createHostileChatBench()
  return { bench, flags: ['--model', 'vllm/m', '--base-url', `${bench.server.url}/v1`] }
}

test.each([
  ['the Messages API', providerFaults(), messagesPlace],
  ['chat completions', faultsIn(CHAT), chatPlace],
])(
  '%s: whatever a provider sends, a run ends with an answer or one sentence, and the session continues',
  async (_what, all, makePlace) => {
    const faults = all.filter(({ isBig }) => !isBig)
    expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length)
    const queue = process.env['SOAK'] ? [...faults] : chosenOf(faults)
    const wrong: string[] = []
    const work = async (): Promise<void> => {
      for (let fault = queue.shift(); fault; fault = queue.shift())
        wrong.push(...(await liveThrough(fault, await makePlace())))
    }
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work))
    expect(wrong).toEqual([])
  },
)

test('whatever is sent instead of the list of models, the run continues without it', async () => {
  const faults = providerFaults().filter(({ isBig }) => !isBig)
  const queue = faults.filter((_, i) => i % (process.env['SOAK'] ? 7 : 2_503) === 0)
  const wrong: string[] = []
  const work = async (): Promise<void> => {
    for (let fault = queue.shift(); fault; fault = queue.shift()) {
      const bench = await createHostileBench()
      bench.server.listFaults.push(fault.play)
      const ran = await bench.run(['-p', 'first'])
      if (ran.exit !== 0 || ran.out !== `${GOOD}\n` || ran.err !== '')
        wrong.push(`${fault.name}: ${ran.out}${ran.err}`.slice(0, 300))
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work))
  expect(wrong).toEqual([])
})

function chosenOf(faults: readonly ProviderFault[]): ProviderFault[] {
  const isCut = ({ name }: ProviderFault): boolean => /^(?:end|reset) after \d+ bytes/.test(name)
  return [
    ...faults.filter((fault) => !isCut(fault)).filter((_, i) => i % CI_STRIDE === 0),
    ...faults.filter(isCut).filter((_, i) => i % CI_STRIDE_OF_CUTS === 0),
  ]
}

async function liveThrough(
  { name, play }: ProviderFault,
  { bench, flags }: Place,
): Promise<readonly string[]> {
  bench.server.faults.push(play)
  const ran = await bench.run(['-p', 'first', ...flags])
  bench.server.faults.length = 0
  const next = await bench.run(['-p', 'second', '--continue', ...flags])
  const isGood = next.exit === 0 && next.out === `${GOOD}\n`
  return [
    ...complaintsAbout(ran).map((complaint) => `${name}: ${complaint}`),
    ...(isGood ? [] : [`${name}: the next run: ${next.out}${next.err}`.slice(0, 500)]),
  ]
}
