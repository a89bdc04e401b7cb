import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { LoggedRequest } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { isJsonObject, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { askForSummaries, longAnswers, stream, summaryStep, switchOff } from '../kit/compacting.ts'
import {
  call,
  createBench,
  jsonObject,
  put,
  startsWithAll,
  stringIn,
  text,
  type Bench,
} from '../kit/headless.ts'

// What was taken out is taken back, kept or brought back: which bytes are sent then, and what they cost.

const CLEARED = '[Old tool result content cleared]'
const FILES = 36
const FILES_AT_ONCE = process.env['SOAK'] ? 2 : 4
const MODEL = ['--model', 'claude-opus-5'] as const
/** Of what a request before it sent: the rest is the marks of the cache, which move. */
const READ_SHARE_MIN = 0.98

async function removalsOf(bench: Bench, layer: number): Promise<readonly JsonObject[]> {
  const { removals } = jsonObject((await bench.run(['context', '--json'])).out)
  if (!Array.isArray(removals)) throw new Error('no removals')
  return removals.filter((one) => isJsonObject(one) && one['layer'] === layer)
}

function newest({ simulator }: Bench): LoggedRequest {
  const found = simulator.requests().at(-1)
  if (!found) throw new Error('nothing was sent')
  return found
}

async function sayMore(bench: Bench, words: string): Promise<LoggedRequest> {
  bench.simulator.addSteps([{ content: [text('noted')] }])
  expect(await bench.run(['-p', words, '--continue', ...MODEL])).toMatchObject({ exit: 0, err: '' })
  return newest(bench)
}

function bodyOf({ body }: LoggedRequest): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** The later begins with all that the earlier sent, byte for byte. */
function goesOn(later: LoggedRequest, earlier: LoggedRequest): boolean {
  return startsWithAll(bodyOf(later), bodyOf(earlier))
}

function clearedIn(request: LoggedRequest): number {
  return bodyOf(request).split(CLEARED).length - 1
}

function expectRead(after: LoggedRequest, tokens: number): void {
  expect((after.usage?.cache_read_input_tokens ?? 0) / tokens).toBeGreaterThanOrEqual(READ_SHARE_MIN)
}

/** A session in which two clearings were made, and nothing was compacted. */
async function clearedTwice(): Promise<Bench> {
  const bench = await createBench()
  await switchOff(bench, 'background-calls')
  for (let i = 0; i < FILES; i++)
    await put(
      join(bench.folder, `part-${i}.ts`),
      `export const part${i} = ${i} // one line of many\n`.repeat(150),
    )
  for (const [from, to] of [
    [0, FILES / 2],
    [FILES / 2, FILES],
  ] as const) {
    const reads = Array.from({ length: (to - from) / FILES_AT_ONCE }, (_, round) => ({
      content: Array.from({ length: FILES_AT_ONCE }, (_, i) =>
        call('Read', { file_path: `part-${from + round * FILES_AT_ONCE + i}.ts` }),
      ),
    }))
    bench.simulator.addSteps([...reads, { content: [text('read')] }])
    const args = ['-p', 'read on', ...(from === 0 ? [] : ['--continue']), ...MODEL, '--window', '60000']
    expect(await bench.run(args, { env: { DISABLE_AUTO_COMPACT: '1' } })).toMatchObject({ exit: 0, err: '' })
  }
  return bench
}

test('of two clearings one is undone: its results are back in their places, the others stay cleared, and what comes before is read from the cache', async () => {
  const bench = await clearedTwice()
  const edits = await removalsOf(bench, 2)
  expect(edits.length).toBeGreaterThanOrEqual(2)
  const [older, newer] = [edits.at(-2) ?? {}, edits.at(-1) ?? {}]
  const before = await sayMore(bench, 'before')
  const counts = [
    Number(/^\d+/.exec(stringIn(older, 'what'))?.[0]),
    Number(/^\d+/.exec(stringIn(newer, 'what'))?.[0]),
  ]
  const undone = await bench.run(['undo', stringIn(newer, 'id')])
  expect(undone.exit).toBe(0)
  // All who say when it compacts name the same size.
  const at = Number(/is compacted automatically only at (\d+)/.exec(undone.out + undone.err)?.[1])
  expect(jsonObject((await bench.run(['context', '--json'])).out)['thresholds']).toMatchObject({ auto: at })
  expect((await bench.run(['context'])).out).toMatch(new RegExp(`compacts at +${at} `))
  const after = await sayMore(bench, 'after')
  expect(clearedIn(before) - clearedIn(after)).toBe(counts[1])
  expect(clearedIn(after)).toBeGreaterThanOrEqual(counts[0] ?? 0)
  // The bytes of the newest request before that clearing, and they are still in the cache.
  const whole = bench.simulator.requests().filter((one) => one.id !== after.id && goesOn(after, one))
  const last = whole.at(-1)
  expect(clearedIn(last ?? before)).toBe(clearedIn(after))
  expectRead(after, last?.input_tokens ?? Infinity)
  // What was taken back is not cleared again; the rest is as it was.
  const again = await sayMore(bench, 'again')
  expect(goesOn(again, after)).toBe(true)
  expectRead(again, after.input_tokens ?? Infinity)
  expect((await removalsOf(bench, 2)).map(({ id }) => id)).toEqual(edits.slice(0, -1).map(({ id }) => id))
})

test('of two compactions the newer is undone: the older one applies, byte for byte as before the newer', async () => {
  const bench = await createBench()
  await askForSummaries(bench)
  bench.simulator.addSteps([
    ...longAnswers('first', 2),
    { content: [text('over')] },
    summaryStep('SUMMARY ONE.'),
    ...longAnswers('second', 2),
    { content: [text('over')] },
    summaryStep('SUMMARY TWO.'),
  ])
  await stream(bench, ['-p', 'one', ...MODEL], { window: '200000' })
  expect(await bench.run(['compact'])).toMatchObject({ exit: 0, err: '' })
  await stream(bench, ['-p', 'two', '--continue', ...MODEL], { window: '200000' })
  const before = newest(bench)
  expect(await bench.run(['compact'])).toMatchObject({ exit: 0, err: '' })
  const [boundary] = await removalsOf(bench, 4)
  expect(await bench.run(['undo', stringIn(boundary ?? {}, 'id')])).toMatchObject({ exit: 0 })
  const after = await sayMore(bench, 'go on')
  expect(goesOn(after, before)).toBe(true)
  expect(bodyOf(after)).toContain('SUMMARY ONE.')
  expect(bodyOf(after)).not.toContain('SUMMARY TWO.')
  expectRead(after, before.input_tokens ?? Infinity)
})

test('a pin changes no byte; a restored message is at the end, and everything before it is read from the cache', async () => {
  const bench = await createBench()
  await askForSummaries(bench)
  bench.simulator.addSteps([
    ...longAnswers('filling', 3),
    { content: [text('over')] },
    summaryStep('SUMMARY.'),
  ])
  const { lines } = await stream(bench, ['-p', 'fill', ...MODEL], { window: '200000' })
  const [first = '', second = ''] = lines
    .filter(({ type }) => type === 'assistant')
    .map((line) => stringIn(line, 'uuid'))
  const unpinned = newest(bench)
  expect(await bench.run(['pin', `${first}:0`])).toMatchObject({ exit: 0 })
  const pinned = await sayMore(bench, 'pinned')
  expect(goesOn(pinned, unpinned)).toBe(true)
  expectRead(pinned, unpinned.input_tokens ?? Infinity)

  expect(await bench.run(['compact'], { env: { PALIMPSEST_WINDOW: '40000' } })).toMatchObject({
    exit: 0,
    err: '',
  })
  const compacted = await sayMore(bench, 'compacted')
  expect(bodyOf(compacted)).toContain('Line 399 of filling 0')
  expect(bodyOf(compacted)).not.toContain('Line 399 of filling 1')
  expect(await bench.run(['restore', second])).toMatchObject({ exit: 0 })
  const restored = await sayMore(bench, 'restored')
  expect(goesOn(restored, compacted)).toBe(true)
  expect(bodyOf(restored)).toContain('Line 399 of filling 1')
  expectRead(restored, compacted.input_tokens ?? Infinity)
})
