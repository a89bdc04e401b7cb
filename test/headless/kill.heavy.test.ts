import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { createRandom } from '../../packages/palimpsest/src/lab/replay/measure/random.ts'
import { SOURCE_HEADER } from '../../packages/palimpsest/src/lab/simulator/headers.ts'
import type { LoggedRequest, ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { View } from '../../packages/palimpsest/src/transcript/view.ts'
import { cases } from '../kit/cases.ts'
import { longAnswers, longText, ROUNDS_TO_FILL, setFlags, summaryStep, WINDOW } from '../kit/compacting.ts'
import {
  call,
  createBench,
  jsonObject,
  put,
  startsWithAll,
  stringIn,
  text,
  thinking,
  transcriptsOf,
  type Bench,
} from '../kit/headless.ts'
import {
  expectNothingLost,
  killIn,
  readBefore,
  toldMessages,
  viewIn,
  type Before,
  type Killed,
  type Moment,
} from '../kit/kill-bench.ts'

// The process is killed (SIGKILL) while it runs turns, compacts, takes a compaction back, brings a message back, writes notes; and after
// each kill the session is resumed. Nothing that was stored or told is missing, the strict simulator takes what is sent, and the next turn
// is answered.

const KILLS = cases(5, 1_000).numRuns
const KINDS = ['turn', 'compaction', 'undo', 'restore', 'notes'] as const
const KILLS_OF_A_KIND = KILLS / KINDS.length
/** Those that stand together begin from one session. */
const GROUPS: readonly (readonly Kind[])[] = [['turn'], ['compaction', 'undo', 'restore'], ['notes']]
const SEED = 20_261_117
/** A kill, and what is looked at behind it, takes a second or two. */
const TIMEOUT_MS = 30_000 * KILLS
/** How often a process may have ended before it was killed. */
const MISSES_MAX = 4 * KILLS
const SUMMARY = 'SUMMARY of what was said.'
const NOTES_END = 'THE NOTES END HERE.'

type Kind = (typeof KINDS)[number]

/** A kind of work that is killed. */
interface Work {
  /** The home that each kill begins from. */
  readonly base: string
  readonly args: (kill: number) => readonly string[]
  readonly steps: (kill: number) => readonly ScriptStep[]
  readonly moment: (random: () => number) => Moment
  /** Held against what is on disk; says what the kill came to. */
  readonly check: (killed: Killed, before: Before) => Promise<string>
  readonly window?: string
}

describe(`(T1) ${KILLS} kills lose nothing, and each session continues`, () => {
  test.each(GROUPS.map((kinds) => ({ kinds, title: kinds.join(', ') })))(
    '$title',
    async ({ kinds }) => {
      const bench = await createBench()
      for (const kind of kinds) expect(await killMany(bench, kind)).toBe(KILLS_OF_A_KIND)
    },
    TIMEOUT_MS,
  )
})

/** So many were killed. */
async function killMany(bench: Bench, kind: Kind): Promise<number> {
  const work = await WORKS[kind](bench)
  const before = await readBefore(work.base)
  const random = createRandom(SEED + KINDS.indexOf(kind))
  const outcomes = new Map<string, number>()
  let misses = 0
  let kill = 0
  while (kill < KILLS_OF_A_KIND) {
    const place = `${kind}-${kill}-${misses}`
    bench.simulator.addSteps([finish(place), ...work.steps(kill * MISSES_MAX + misses)])
    const asked = bench.simulator.requests().length
    const killed = await killIn(bench, work.base, work.args(kill * MISSES_MAX + misses), work.moment(random))
    if (!killed) {
      expect(++misses).toBeLessThan(MISSES_MAX)
      continue
    }
    kill++
    await expectNothingLost(killed, before)
    const outcome = await work.check(killed, before)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    await expectGoesOn(bench, killed, { asked, place, window: work.window })
  }
  if (process.env['SOAK']) process.stdout.write(`${kind}: ${JSON.stringify(Object.fromEntries(outcomes))}\n`)
  return kill
}

function finish(place: string): ScriptStep {
  return { content: [text(`Finished ${place}.`)], when: { bodyContains: `finish ${place} now` } }
}

/** One more turn: all that is sent is accepted, and nothing that was sent before is sent otherwise. */
async function expectGoesOn(
  bench: Bench,
  { home, where }: Killed,
  {
    asked,
    place,
    window,
  }: { readonly asked: number; readonly place: string; readonly window: string | undefined },
): Promise<void> {
  const before = mainRequests(bench).length
  const args = [
    '-p',
    `finish ${place} now`,
    '--continue',
    ...(window === undefined ? [] : ['--window', window]),
  ]
  const { exit, out, err } = await bench.run(args, { env: { PALIMPSEST_HOME: home } })
  const told = err.replaceAll(/^(?:palimpsest: .*(?:torn|incomplete).*|compacted: .*)\n/gm, '')
  expect({ where, exit, out, told }).toEqual({ where, exit: 0, out: `Finished ${place}.\n`, told: '' })
  const requests = bench.simulator.requests().slice(asked)
  expect({ where, refused: requests.filter(({ status }) => status !== 200) }).toEqual({ where, refused: [] })
  const [last, resumed] = [mainRequests(bench)[before - 1], mainRequests(bench).at(-1)]
  const isSame = window !== undefined || !last || !requests.includes(last)
  expect({ where, prefix: isSame || startsWithAll(resumed?.body ?? '', last.body ?? '?') }).toEqual({
    where,
    prefix: true,
  })
}

function mainRequests({ simulator }: Bench): readonly LoggedRequest[] {
  return simulator.requests().filter(({ headers }) => headers[SOURCE_HEADER] === undefined)
}

const STREAM = ['--continue', '--output-format', 'stream-json']

const WORKS: { readonly [kind in Kind]: (bench: Bench) => Promise<Work> } = {
  turn: async (bench) => ({
    base: await talked(bench),
    args: (kill) => ['-p', `work ${kill}.`, '--permission-mode', 'bypass', ...STREAM],
    steps: (kill) => rounds().map((step) => ({ ...step, when: { bodyContains: `work ${kill}.` } })),
    moment: (random) => pick(random, { ms: 1_500, lines: 16, changes: 60 }),
    check: async (killed) => `${Math.min(3, Math.floor(toldMessages(killed).length / 8))} × 8 messages told`,
  }),
  compaction: async (bench) => ({
    base: await full(bench),
    window: WINDOW,
    args: (kill) => ['-p', `more ${kill}.`, '--window', WINDOW, ...STREAM],
    steps: (kill) => [
      { ...summaryStep(SUMMARY), times: 2, delay_ms: 60 },
      { content: [text('More.')], when: { bodyContains: `more ${kill}.` } },
    ],
    moment: (random) => pick(random, { ms: 1_200, lines: 8, changes: 14 }),
    check: async ({ path, where }, { view }) => oldOrNew(await viewIn(path), view, where),
  }),
  undo: async (bench) => {
    const { home, boundary } = await compacted(bench)
    return {
      base: home,
      args: () => ['undo', boundary],
      steps: () => [],
      moment: (random) => pick(random, { ms: 600, lines: 1, changes: 6 }),
      check: async ({ path, out, where }) => {
        const isUndone = (await viewIn(path)).boundary === undefined
        expect({ where, told: out !== '' && !isUndone }).toEqual({ where, told: false })
        return isUndone ? 'undone' : 'not yet'
      },
    }
  },
  restore: async (bench) => {
    const { home, message } = await compacted(bench)
    return {
      base: home,
      args: () => ['restore', message],
      steps: () => [],
      moment: (random) => pick(random, { ms: 600, lines: 1, changes: 6 }),
      check: async ({ path, out, where }) => {
        const last = (await viewIn(path)).nodes.at(-1)?.source
        const isBack = last?.origin === 'recall' && last.json.includes('filling 0')
        expect({ where, told: out !== '' && !isBack }).toEqual({ where, told: false })
        return isBack ? 'brought back' : 'not yet'
      },
    }
  },
  notes: async (bench) => ({
    base: await noted(bench),
    window: WINDOW,
    args: (kill) => ['-p', `note ${kill}.`, '--window', WINDOW, ...STREAM],
    steps: (kill) => noteSteps(`note ${kill}.`, 3),
    moment: (random) => pick(random, { ms: 2_000, lines: 12, changes: 40 }),
    check: async ({ path, where }) => {
      const notes = await readFile(notesPath(path), 'utf8').catch(() => '')
      const isWhole = !notes.includes('WRITTEN BY A MODEL') || notes.trimEnd().endsWith(NOTES_END)
      expect({ where, isWhole, ends: notes === '' || notes.endsWith('\n') }).toEqual({
        where,
        isWhole: true,
        ends: true,
      })
      const { log } = await viewIn(path)
      return log.some(({ kind }) => kind === 'notes') ? 'noted' : 'not yet'
    },
  }),
}

function pick(
  random: () => number,
  most: { readonly ms: number; readonly lines: number; readonly changes: number },
): Moment {
  const upTo = (count: number): number => Math.floor(random() * count)
  const kind = upTo(5)
  if (kind === 0) return { kind: 'ms', ms: upTo(most.ms) }
  if (kind < 3) return { kind: 'line', line: 1 + upTo(most.lines), ms: upTo(3) }
  return { kind: 'change', change: 1 + upTo(most.changes), ms: upTo(3) }
}

function oldOrNew({ nodes, boundary }: View, before: View, where: string): string {
  const texts = (view: Pick<View, 'nodes'>): readonly string[] =>
    view.nodes.map((node) => node.blocks.map(({ json }) => json).join(''))
  const [now, old] = [texts({ nodes }), texts(before)]
  if (!boundary) {
    expect({ where, old: now.slice(0, old.length) }).toEqual({ where, old })
    return 'old'
  }
  const inView = new Set(nodes.flatMap(({ entries }) => entries))
  const missing = [...boundary.entry.summary, ...boundary.entry.attachments].filter((id) => !inView.has(id))
  expect({ where, missing, isNew: now.join('').includes(SUMMARY) }).toEqual({
    where,
    missing: [],
    isNew: true,
  })
  expect({ where, isKept: now.includes(old.at(-1) ?? '') }).toEqual({ where, isKept: true })
  expect(now.join('')).not.toContain(longText('filling 0'))
  return 'new'
}

/** Every kind of work: thinking, several calls at once, a result that goes to disk, writers. */
function rounds(): readonly ScriptStep[] {
  return [
    {
      content: [
        thinking('first'),
        text('I read.'),
        call('Read', { file_path: 'a.txt' }),
        call('Glob', { pattern: '*' }),
      ],
    },
    {
      content: [
        thinking('long'),
        call('Bash', { command: 'seq 1 12000' }),
        call('Read', { file_path: 'a.txt' }),
      ],
    },
    {
      content: [
        call('Write', { file_path: 'b.txt', content: 'b' }),
        call('Bash', { command: 'sleep 0.03; echo done >> log.txt' }),
      ],
      delay_ms: 20,
    },
    {
      content: [
        text('Once more.'),
        call('Edit', { file_path: 'a.txt', old_string: 'no', new_string: 'yes' }),
      ],
    },
    { content: [thinking('end'), text('That was it.')] },
  ]
}

const OWN = { 'server-compaction': false, 'background-calls': false }

async function talked(bench: Bench): Promise<string> {
  await setFlags(bench, OWN)
  await put(join(bench.folder, 'a.txt'), 'hello\n')
  bench.simulator.addSteps([
    { content: [thinking('begin'), call('Read', { file_path: 'a.txt' })] },
    { content: [text('It says hello.')] },
  ])
  expect(await bench.run(['-p', 'Read a.txt.'])).toMatchObject({ exit: 0, out: 'It says hello.\n' })
  return bench.home
}

const compactedIn = new WeakMap<Bench, ReturnType<typeof compactFull>>()

/** One session for all who begin from a compacted one. */
async function compacted(bench: Bench): ReturnType<typeof compactFull> {
  const made = compactedIn.get(bench) ?? compactFull(bench)
  compactedIn.set(bench, made)
  return await made
}

/** In its whole window there is room for it; in the small one it is to be compacted. */
async function full(bench: Bench): Promise<string> {
  // Somebody was here before.
  if ((await transcriptsOf(bench)).length > 0) return bench.home
  await setFlags(bench, OWN)
  bench.simulator.addSteps([
    ...longAnswers('filling', ROUNDS_TO_FILL),
    { content: [text('The turn is over.')] },
  ])
  expect(await bench.run(['-p', 'fill it'])).toMatchObject({ exit: 0 })
  return bench.home
}

async function compactFull(
  bench: Bench,
): Promise<{ readonly home: string; readonly boundary: string; readonly message: string }> {
  const home = await full(bench)
  const { view } = await readBefore(home)
  bench.simulator.addSteps([summaryStep(SUMMARY)])
  const { out } = await bench.run(['compact', '--json', '--window', WINDOW])
  const message = view.nodes.find(({ blocks }) =>
    blocks.some(({ json }) => json.includes('of filling 0 says')),
  )
  return { home, boundary: stringIn(jsonObject(out), 'id'), message: message?.source.id ?? '' }
}

/** Notes are due with the next answers: the window is about to pass its warning. */
async function noted(bench: Bench): Promise<string> {
  await setFlags(bench, { 'server-compaction': false })
  bench.simulator.addSteps(noteSteps('begin with it', 4))
  expect(await bench.run(['-p', 'begin with it', '--window', WINDOW])).toMatchObject({ exit: 0 })
  return bench.home
}

/** Long answers, and beside them a fork that writes notes; where these came too late, a summary. */
function noteSteps(prompt: string, answers: number): readonly ScriptStep[] {
  const lines = 'A line of notes.\n'.repeat(200)
  const notes = `# Session title\nWRITTEN BY A MODEL\n\n# Current state\n${lines}${NOTES_END}`
  return [
    {
      content: [text(`<notes>\n${notes}\n</notes>`)],
      when: { source: 'session-memory' },
      times: 9,
      delay_ms: 30,
    },
    { ...summaryStep(SUMMARY), times: 9 },
    ...[...longAnswers(`of ${prompt}`, answers), { content: [text('Noted.')] }].map((step) => ({
      ...step,
      when: { bodyContains: prompt },
      delay_ms: 40,
    })),
  ]
}

function notesPath(transcript: string): string {
  return transcript.replace(/([^/]+)\.jsonl$/, 'session-memory/$1.md')
}
