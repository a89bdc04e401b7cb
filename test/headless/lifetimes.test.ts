import { expect, test } from 'vitest'

import type { ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'
import { settings } from '../kit/compacting.ts'
import { call, onlyTranscript, put, text } from '../kit/headless.ts'
import { isJsonObject, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { join } from 'node:path'

// How long the provider keeps what was sent, and what is cleared when it has not.

const ENV = { PALIMPSEST_MODEL: 'claude-opus-5' }
const MINUTE_MS = 60_000
const READS = 20
const READS_A_ROUND = 10

/** Twenty files, ten read in each round, and an answer. */
async function readFiles(bench: CommandBench): Promise<void> {
  const line = 'export const value = compute(1, 2, 3)\n'
  for (let i = 0; i < READS; i++)
    await put(join(bench.folder, `${i}.ts`), `// file ${i}\n${line.repeat(120)}`)
  const rounds = Array.from({ length: READS / READS_A_ROUND }, (_, round): ScriptStep => ({
    content: Array.from({ length: READS_A_ROUND }, (_each, i) =>
      call('Read', { file_path: `${round * READS_A_ROUND + i}.ts` }),
    ),
  }))
  bench.simulator.addSteps([...rounds, { content: [text('Read.')] }])
  expect(await bench.run(['-p', 'read them'], ENV)).toMatchObject({ exit: 0 })
}

async function goOn(bench: CommandBench, minutes: number): Promise<void> {
  bench.wait(minutes * MINUTE_MS)
  bench.simulator.addSteps([{ content: [text('Yes.')] }])
  expect(await bench.run(['-p', 'and?', '--continue'], ENV)).toMatchObject({ exit: 0 })
}

/** Results that edits of the transcript cleared. */
async function cleared(bench: CommandBench): Promise<number> {
  const lines = await onlyTranscript(bench)
  return lines.reduce((sum, { subtype, palimpsest }) => {
    const replaced = subtype === 'edit' && isJsonObject(palimpsest) ? palimpsest['replace'] : undefined
    return sum + (Array.isArray(replaced) ? replaced.length : 0)
  }, 0)
}

/** Tokens that the conversation's requests bought for an hour and for five minutes, without the first. */
function bought({ asked }: CommandBench): { readonly hour: number; readonly minutes: number } {
  const created = asked('main')
    .slice(1)
    .map(({ usage }) => usage?.cache_creation)
  return {
    hour: created.reduce((sum, one) => sum + (one?.ephemeral_1h_input_tokens ?? 0), 0),
    minutes: created.reduce((sum, one) => sum + (one?.ephemeral_5m_input_tokens ?? 0), 0),
  }
}

/** Pauses of one conversation, one after the other, with how many results are cleared by then. */
type Pauses = readonly [set: JsonObject, pauses: readonly (readonly [minutes: number, cleared: number])[]]

const AN_HOUR: JsonObject = { cache: { lifetime: '1h' } }
/** Each just beyond a limit or just before it; in a soak further away, too. */
const PAUSES: readonly Pauses[] = [
  [
    {},
    [
      [4, 0],
      [6, READS - 15],
      [62, READS - 5],
    ],
  ],
  [
    AN_HOUR,
    [
      [59, 0],
      [62, READS - 5],
    ],
  ],
  [
    { clearing: { gapMinutes: 30, keepResults: 3 } },
    [
      [6, 0],
      [32, READS - 3],
    ],
  ],
]
/** Each alone. */
const FURTHER_PAUSES: readonly Pauses[] = [
  ...PAUSES.flatMap(([set, pauses]) => pauses.map((one): Pauses => [set, [one]])),
  [{ clearing: { gapMinutes: 30 } }, [[32, READS - 15]]],
  [{ clearing: { keepResults: 3 } }, [[6, READS - 3]]],
  [{}, [[24 * 60, READS - 5]]],
  [AN_HOUR, [[6, 0]]],
]

test.each(process.env['SOAK'] ? [...PAUSES, ...FURTHER_PAUSES] : PAUSES)(
  'set to %j, pauses of so many minutes clear so many results: %j',
  async (set, pauses) => {
    const bench = await createCommandBench()
    await settings(bench, set)
    await readFiles(bench)
    const found: (readonly [number, number])[] = []
    for (const [minutes] of pauses) {
      await goOn(bench, minutes)
      found.push([minutes, await cleared(bench)])
    }
    expect(found).toEqual(pauses)
  },
)

test.each([
  ['5m', { hour: 0, minutes: expect.any(Number) }],
  ['1h', { hour: expect.any(Number), minutes: 0 }],
])('set to %s, that lifetime is bought for the messages, and nothing breaks', async (lifetime, expected) => {
  const bench = await createCommandBench()
  await settings(bench, { cache: { lifetime } })
  await readFiles(bench)
  await goOn(bench, 2)
  expect(bought(bench)).toEqual(expected)
  expect(bench.simulator.stats().refused).toEqual({})
})

test('an hour is bought automatically if the conversation keeps pausing for a quarter of an hour, and from then on nothing expires', async () => {
  const bench = await createCommandBench()
  await readFiles(bench)
  for (let i = 0; i < 5; i++) await goOn(bench, 15)
  const requests = bench.asked('main').slice(-5)
  const hours = requests.map(({ usage }) => (usage?.cache_creation?.ephemeral_1h_input_tokens ?? 0) > 0)
  expect(hours.at(0)).toBe(false)
  expect(hours.at(-1)).toBe(true)
  const reads = requests.map(
    ({ usage, input_tokens: all }) => (usage?.cache_read_input_tokens ?? 0) / (all ?? 1),
  )
  expect(reads.at(0)).toBeLessThan(0.5)
  expect(reads.at(-1)).toBeGreaterThan(0.9)
  // What expired and what was renewed is foreseen: no alarm.
  const { cache } = JSON.parse((await bench.run(['context', '--json'], ENV)).out)
  expect(cache.breaks).toBe(0)
})

test('without such pauses, five minutes are bought', async () => {
  const bench = await createCommandBench()
  await readFiles(bench)
  for (let i = 0; i < 3; i++) await goOn(bench, 2)
  expect(bought(bench).hour).toBe(0)
})
