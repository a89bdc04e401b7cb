import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'

import { describe, expect, test } from 'vitest'

import { loadTranscript } from '../../packages/palimpsest/src/node/load-transcript.ts'
import type { LoggedRequest, ScriptStep } from '../../packages/palimpsest/src/simulator/index.ts'
import { viewOf } from '../../packages/palimpsest/src/transcript/view.ts'
import { createRandom } from '../../packages/palimpsest/src/replay/measure/random.ts'
import { isJsonObject, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { cases } from '../kit/cases.ts'
import {
  call,
  createBench,
  jsonLines,
  put,
  startsWithAll,
  stringIn,
  text,
  thinking,
  transcriptsOf,
  type Bench,
} from '../kit/headless.ts'

// The process is killed (SIGKILL) in the middle of its work, twice in each session: at random times from its start, at random times
// in the conversation, right behind a line it printed. Nothing that was printed is missing, and the session goes on as if nothing had been.

const KILLS_PER_SESSION = 2
const SESSIONS = cases(10, 200).numRuns / KILLS_PER_SESSION
const SEED = 20_261_115
const FINISH = 'finish now'
/** More rounds than a run gets to before it is killed. */
const ROUNDS = 80
/** A kill from the start may come before anything is stored; later ones meet any part of a round (about 150 ms). */
const START_MS_MAX = 1_500
const WORK_MS_MAX = 900
const LINES_MAX = 25

type Moment =
  | { readonly kind: 'after start'; readonly ms: number }
  | { readonly kind: 'at work'; readonly ms: number }
  | { readonly kind: 'behind line'; readonly line: number }

const moments: Moment[] = []
const lengths = new Set<number>()

describe(`(T1) ${SESSIONS * KILLS_PER_SESSION} kills lose nothing that was printed, and each session goes on from its cache`, () => {
  test.each(Array.from({ length: SESSIONS }, (_, i) => i))('session %i', async (session) => {
    const random = createRandom(SEED + session)
    const bench = await createBench({
      script: [{ content: [text('Finished.')], when: { bodyContains: FINISH } }, ...rounds()],
      faults: [{ times: 10_000, fault: { type: 'slow', ms_per_token: 1 } }],
    })
    await put(join(bench.folder, 'a.txt'), 'hello\n')
    const printed: JsonObject[] = []
    for (let kill = 0; kill < KILLS_PER_SESSION; kill++) {
      const moment = chooseMoment(session * KILLS_PER_SESSION + kill, random)
      const goesOn = (await transcriptsOf(bench)).length > 0
      printed.push(...(await runAndKill(bench, goesOn, moment)))
      moments.push(moment)
      lengths.add(printed.length)
      await expectStored(bench, printed, JSON.stringify(moment))
    }
    await expectGoesOn(bench, printed)
  })

  test('they come at many different moments', () => {
    expect(new Set(moments.map(({ kind }) => kind)).size).toBe(3)
    expect(new Set(moments.map((moment) => JSON.stringify(moment))).size).toBeGreaterThanOrEqual(SESSIONS)
    expect(lengths.size).toBeGreaterThanOrEqual(5)
  })
})

/** Every kind of work: thinking, several calls at once, a result that goes to disk, writers. */
function rounds(): readonly ScriptStep[] {
  return Array.from({ length: ROUNDS }, (_, i) => {
    switch (i % 3) {
      case 0:
        return {
          content: [
            thinking(`round ${i}`),
            text('I read.'),
            call('Read', { file_path: 'a.txt' }),
            call('Glob', { pattern: '*' }),
          ],
        }
      case 1:
        return {
          content: [
            thinking('long'),
            call('Bash', { command: 'seq 1 12000' }),
            call('Read', { file_path: 'a.txt' }),
          ],
        }
      default:
        return {
          content: [
            call('Write', { file_path: `b${i}.txt`, content: 'b' }),
            call('Bash', { command: `sleep 0.05; echo ${i} >> log.txt` }),
          ],
          delay_ms: 30,
        }
    }
  })
}

function chooseMoment(index: number, random: () => number): Moment {
  switch (index % 3) {
    case 0:
      return { kind: 'behind line', line: 1 + Math.floor(random() * LINES_MAX) }
    case 1:
      return { kind: 'at work', ms: Math.floor(random() * WORK_MS_MAX) }
    default:
      return { kind: 'after start', ms: Math.floor(random() * START_MS_MAX) }
  }
}

/** The messages that were printed whole before the end. */
async function runAndKill(bench: Bench, goesOn: boolean, moment: Moment): Promise<readonly JsonObject[]> {
  const flags = [
    '--permission-mode',
    'bypass',
    '--output-format',
    'stream-json',
    ...(goesOn ? ['--continue'] : []),
  ]
  const running = bench.start(['-p', 'work', ...flags])
  if (moment.kind === 'behind line') for (let line = 0; line < moment.line; line++) await running.lines.next()
  if (moment.kind === 'at work') await running.lines.next()
  if ('ms' in moment) await sleep(moment.ms)
  running.child.kill('SIGKILL')
  const { signal, out } = await running.ended
  expect(signal).toBe('SIGKILL')
  // What comes behind the last line end never became a line.
  const whole = jsonLines(out.slice(0, out.lastIndexOf('\n') + 1))
  return whole.filter(({ type }) => type === 'user' || type === 'assistant')
}

/** The transcript loads, holds every printed message as it was printed, and every stored result it names is there, whole. */
async function expectStored(bench: Bench, printed: readonly JsonObject[], where: string): Promise<void> {
  const [path, ...others] = await transcriptsOf(bench)
  expect({ where, others }).toEqual({ where, others: [] })
  if (path === undefined) {
    expect({ where, printed }).toEqual({ where, printed: [] })
    return
  }
  const { entries, warnings } = await loadTranscript(path)
  const stored = new Map(entries.map((entry) => [entry.id, entry]))
  const missing = printed.filter((line) => {
    const entry = stored.get(stringIn(line, 'uuid'))
    return entry?.kind !== 'message' || !isDeepStrictEqual(entry.message, line['message'])
  })
  const bad = warnings.filter(({ kind }) => kind !== 'torn-line')
  expect({ where, missing, bad }).toEqual({ where, missing: [], bad: [] })
  for (const entry of entries) {
    if (entry.kind !== 'stored') continue
    const { size } = await stat(join(dirname(path), entry.blob.path))
    expect({ where, size }).toEqual({ where, size: entry.blob.bytes })
  }
  viewOf(entries)
}

/** One more turn: accepted, all thinking kept, and everything that was sent and answered before is read from the cache. */
async function expectGoesOn(bench: Bench, printed: readonly JsonObject[]): Promise<void> {
  const before = bench.simulator.requests()
  const { exit, out, err } = await bench.run(['-p', FINISH, '--continue', '--output-format', 'stream-json'])
  expect({ exit, err: err.replaceAll(/^palimpsest: .*torn.*\n/gm, '') }).toEqual({ exit: 0, err: '' })
  expect(jsonLines(out).at(-1)).toMatchObject({ subtype: 'success', result: 'Finished.' })
  const resumed = bench.simulator.requests().slice(before.length)
  expect(resumed.map(({ status }) => status)).toEqual([200])
  const answer = jsonLines(out).find(({ type }) => type === 'assistant')
  expect(isJsonObject(answer?.['message']) && answer['message']['input_transformations']).toEqual([])
  const answers = printed.filter(({ type }) => type === 'assistant').length
  expectCached(resumed[0], before, answers)
}

function expectCached(
  resumed: LoggedRequest | undefined,
  before: readonly LoggedRequest[],
  answers: number,
): void {
  const last = before.at(-1)
  if (!last) return
  expect(startsWithAll(resumed?.body ?? '', last.body ?? '?')).toBe(true)
  expect(resumed?.common_prefix_tokens).toBe(last.input_tokens)
  if (answers === 0) return
  // The last request may have been cut before its answer began: then the one before it is what the cache holds.
  const held = [last, before.at(-2)].map((request) => request?.input_tokens)
  expect(held).toContain(resumed?.usage?.cache_read_input_tokens)
}
