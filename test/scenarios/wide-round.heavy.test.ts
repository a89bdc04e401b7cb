import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { isJsonObject, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import {
  call,
  createBench,
  onlyTranscript,
  sentBody,
  startsWithAll,
  stringIn,
  text,
  type Bench,
} from '../kit/headless.ts'

// One answer asks for far more than the window holds. The next request fits all the same, and a process that is killed in the middle of
// it all finds the same bytes again.

/** The narrowest is the hardest. */
const WINDOWS = process.env['SOAK'] ? [16_000, 60_000, 200_000] : [16_000]
/** In the middle of the results; a soak kills sooner, too. */
const KILLED_BEHIND = process.env['SOAK'] ? [4, 30] : [8]
/** In any case more than the narrowest holds several times. */
const RESULTS = process.env['SOAK'] ? 40 : 12
const RESULT_CHARS = 30_000
const MODEL = 'claude-opus-5'
/** What is not compacted must fit by storage alone. */
const UNCOMPACTED = { PALIMPSEST_MODEL: MODEL, DISABLE_AUTO_COMPACT: '1' }
/** Until a request is answered: long enough to be killed meanwhile. */
const ANSWER_MS = 60_000

test.each(WINDOWS)(
  'dozens of results of 30,000 characters in a window of %d tokens: the next request fits, and a killed run continues from its bytes',
  async (window) => {
    const bench = await createBench({ script: [{ content: calls() }] })
    await layResults(bench)
    const env = { ...UNCOMPACTED, PALIMPSEST_WINDOW: String(window) }
    // The second request is sent and never answered: the process is killed while it waits.
    bench.simulator.addSteps([{ content: [text('too late')], delay_ms: ANSWER_MS }])
    const first = bench.start(['-p', 'read all of it', '--output-format', 'stream-json'], { env })
    while (bench.simulator.requests().length < 2 && first.child.exitCode === null) await sleep(POLL_MS)
    first.child.kill('SIGKILL')
    expect(await first.ended).toMatchObject({ signal: 'SIGKILL', err: '' })
    const sent = sentBody(bench, 1)
    bench.simulator.addSteps([{ content: [text('done')] }])
    const { exit, err } = await bench.run(['-p', 'go on', '--continue'], { env })
    expect([exit, err]).toEqual([0, ''])
    const [, wide, resumed] = bench.simulator.requests()
    expect(wide?.input_tokens).toBeLessThan(window)
    expect(resultsIn(sent)).toHaveLength(RESULTS)
    expect(startsWithAll(sentBody(bench, 2), sent)).toBe(true)
    expect(resumed).toMatchObject({ status: 200 })
    expect(resumed?.input_tokens).toBeLessThan(window)
  },
)

test.each(KILLED_BEHIND)(
  'killed after line %d of such a round, in a window of 16,000 tokens: the session continues, fits, and sends the same bytes from then on',
  async (line) => {
    const bench = await createBench({ script: [{ content: calls() }] })
    await layResults(bench)
    const env = { ...UNCOMPACTED, PALIMPSEST_WINDOW: '16000' }
    const first = bench.start(['-p', 'read all of it', '--output-format', 'stream-json'], { env })
    for (let i = 0; i < line; i++) await first.lines.next()
    first.child.kill('SIGKILL')
    await first.ended
    bench.simulator.addSteps([{ content: [text('done')] }, { content: [text('and again')] }])
    expect(await bench.run(['-p', 'go on', '--continue'], { env })).toMatchObject({ exit: 0 })
    const resumed = bench.simulator.requests().at(-1)
    expect(resumed?.input_tokens).toBeLessThan(16_000)
    const sent = JSON.stringify(sentBody(bench, -1))
    const decided = standIns(await onlyTranscript(bench))
    expect(resultsIn(sentBody(bench, -1))).toHaveLength(RESULTS)
    expect(decided.filter((standIn) => !sent.includes(standIn))).toEqual([])
    expect(await bench.run(['-p', 'and again', '--continue'], { env })).toMatchObject({ exit: 0 })
    expect(startsWithAll(sentBody(bench, -1), sent)).toBe(true)
  },
)

/** The reader opts out of storage, the shell does not. */
function calls(): ReturnType<typeof call>[] {
  return Array.from({ length: RESULTS }, (_, i) =>
    i % 2 === 0
      ? call('Read', { file_path: `results/${i}.txt` })
      : call('Bash', { command: `cat results/${i}.txt` }),
  )
}

async function layResults({ folder }: Bench): Promise<void> {
  await mkdir(join(folder, 'results'))
  for (let i = 0; i < RESULTS; i++) {
    const line = `export const value${i} = compute(${i}, 'a word or two')\n`
    const content = line.repeat(Math.ceil(RESULT_CHARS / line.length)).slice(0, RESULT_CHARS)
    await writeFile(join(folder, 'results', `${i}.txt`), content)
  }
}

const POLL_MS = 20

function resultsIn(body: JsonObject): readonly unknown[] {
  const messages = Array.isArray(body['messages']) ? body['messages'] : []
  return messages
    .flatMap((message: unknown) => (isJsonObject(message) ? message['content'] : []))
    .filter((block: unknown) => isJsonObject(block) && block['type'] === 'tool_result')
}

/** The blocks that stand for stored results, as JSON text, by the newest decision about each. */
function standIns(lines: readonly JsonObject[]): readonly string[] {
  const found = new Map<string, string>()
  for (const { subtype, palimpsest } of lines)
    if (subtype === 'stored' && isJsonObject(palimpsest))
      found.set(stringIn(palimpsest, 'toolUseId'), stringIn(palimpsest, 'standIn'))
  return [...found.values()]
}
