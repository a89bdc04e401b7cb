import { join } from 'node:path'

import { createSimulator, STRICT_SWITCHES } from 'palimpsest/simulator'
import { isJsonObject, type JsonObject } from 'palimpsest/wire'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { call, createBench, put, text, type Bench } from '../../../../test/kit/headless.ts'

const FORKS = 8
/** Rounds of tools of each fork. */
const ROUNDS = cases(2, 5).numRuns

const fork = (n: number) => call('Agent', { description: `part ${n}`, prompt: `Look at part ${n}.` })

type Logged = ReturnType<Bench['simulator']['requests']>[number]

/** A conversation that has read something, and splits into eight. */
async function splitInEight(): Promise<{
  readonly bench: Bench
  readonly requests: readonly Logged[]
  readonly out: string
}> {
  const bench = await createBench({ seed: 1 })
  const line = 'The quick brown fox jumps over the lazy dog and reads the manual of the harbour.\n'
  await put(join(bench.folder, 'long.txt'), line.repeat(400))
  await put(join(bench.folder, 'part.txt'), 'a part')
  bench.simulator.addSteps([
    { content: [call('Read', { file_path: 'long.txt' })] },
    { content: Array.from({ length: FORKS }, (_, i) => fork(i)) },
    ...Array.from({ length: FORKS * ROUNDS }, () => ({
      content: [call('Read', { file_path: 'part.txt' })],
      when: { source: 'subagent:fork', bodyContains: 'Look at part' },
    })),
    ...Array.from({ length: FORKS }, () => ({
      content: [text('The part is fine.')],
      when: { source: 'subagent:fork' },
    })),
    { content: [text('All parts are fine.')] },
  ])
  const { out } = await bench.run(['-p', 'Check all parts', '--max-turns', '10'])
  return { bench, out, requests: bench.simulator.requests() }
}

const sourceOf = ({ headers }: Logged): string => headers['x-palimpsest-source'] ?? 'main'
const isFork = (request: Logged): boolean => sourceOf(request) === 'subagent:fork'
const textOf = ({ body }: Logged): string => (typeof body === 'string' ? body : JSON.stringify(body))
const taskOf = (request: Logged): string => /Task: (Look at part \d)/.exec(textOf(request))?.[1] ?? ''

/** The first request of each fork, in the order they came. */
function firstOfEach(requests: readonly Logged[]): readonly Logged[] {
  const seen = new Set<string>()
  return requests.filter((request) => {
    if (!isFork(request) || seen.has(taskOf(request))) return false
    seen.add(taskOf(request))
    return true
  })
}

const readShare = ({ usage }: Logged): number => {
  const read = usage?.cache_read_input_tokens ?? 0
  const all = read + (usage?.cache_creation_input_tokens ?? 0) + (usage?.input_tokens ?? 0)
  return read / all
}

const costOf = (requests: readonly Logged[]): number =>
  requests.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0)

describe('eight forks of one conversation', () => {
  // Each test looks at the same run.
  let split: ReturnType<typeof splitInEight> | undefined
  const run = (): ReturnType<typeof splitInEight> => (split ??= splitInEight())

  test('send the same bytes up to their directive: not one byte differs', async () => {
    const first = firstOfEach((await run()).requests)
    expect(first).toHaveLength(FORKS)
    const [one = '', ...others] = first.map((request) => textOf(request).split('<fork-directive>')[0] ?? '')
    expect(one.length).toBeGreaterThan(30_000)
    expect(others.map((other) => firstDifference(one, other))).toEqual(others.map(() => undefined))
  })

  test('one writes the prefix that they share, the other seven read 98% of their first request or more; all cost at most 45% of eight with one other byte each', async () => {
    const { requests, out } = await run()
    expect(out).toContain('All parts are fine.')
    const first = firstOfEach(requests)
    expect(first).toHaveLength(FORKS)
    expect(
      first
        .slice(1)
        .map(readShare)
        .filter((share) => share < 0.98),
    ).toEqual([])
    const forks = requests.filter(isFork)
    expect(forks).toHaveLength(FORKS * (ROUNDS + 1))
    expect(costOf(forks) / costOf(judgedApart(requests))).toBeLessThanOrEqual(0.45)
  })
})

/** The place, and what stands there in both; undefined where they are the same. */
function firstDifference(a: string, b: string): string | undefined {
  if (a === b) return undefined
  let place = 0
  while (a[place] === b[place]) place++
  return `at ${place}: ${a.slice(place, place + 40)} | ${b.slice(place, place + 40)}`
}

/** The same requests with one other byte in the first system block of each fork, judged anew. */
function judgedApart(requests: readonly Logged[]): readonly Logged[] {
  const judge = createSimulator({ switches: STRICT_SWITCHES, seed: 1 })
  for (const request of requests)
    judge.answer(isFork(request) ? withOtherSystem(request) : textOf(request), request.headers)
  const [...judged] = judge.requests()
  return judged.filter((_, i) => requests.slice(i, i + 1).some(isFork))
}

/** Another one for each task. */
function withOtherSystem(request: Logged): JsonObject {
  const body: unknown = JSON.parse(textOf(request))
  if (!isJsonObject(body) || !Array.isArray(body['system'])) throw new Error('no system blocks')
  const [first, ...rest] = body['system']
  if (!isJsonObject(first) || typeof first['text'] !== 'string') throw new Error('no system block')
  const other = `${taskOf(request).at(-1)}${first['text'].slice(1)}`
  return { ...body, system: [{ ...first, text: other }, ...rest] }
}
