import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { onTestFinished } from 'vitest'

import type { LoggedRequest, ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { BoundaryEntry, Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { decodeLine } from '../../packages/palimpsest/src/transcript/lines/codec.ts'
import { createCommandBench, type CommandBench, type CommandMoment } from './command-bench.ts'
import { setFlags } from './compacting.ts'
import { NOTES, PROMPTS, SUMMARY, workSteps, writeProject, type WorkSize } from './worked-session.ts'

// A worked session that is compacted in each of the ways there are, through the whole command, and the first request after it.

export const WAYS = ['auto', 'manual', 'from', 'up-to', 'notes', 'server', 'fold'] as const
export type Way = (typeof WAYS)[number]
export const WINDOWS = { '60k': 60_000, '200k': 200_000 } as const
export type WindowName = keyof typeof WINDOWS

/** So much is read that the window is full in the third turn, or, where somebody asks for the compaction, well used. */
const SIZES: { readonly [name in WindowName]: { readonly full: WorkSize; readonly used: WorkSize } } = {
  '60k': { full: { handlers: 27, lines: 90 }, used: { handlers: 10, lines: 90 } },
  '200k': { full: { handlers: 30, lines: 300 }, used: { handlers: 12, lines: 300 } },
}

const text = (words: string) => ({ type: 'text', text: words })
const LAST_WISH = 'Continue with the retries.'

export interface Example {
  readonly bench: CommandBench
  /** The first request of the conversation after the compaction. */
  readonly request: LoggedRequest
  readonly boundary: BoundaryEntry
}

export async function playExample(way: Way, windowName: WindowName): Promise<Example> {
  const isFull = way === 'auto' || way === 'notes'
  const window = ['--window', String(WINDOWS[windowName])]
  // Where somebody asks a model or a fold for the compaction, the session before it is the same.
  const isShared = !isFull && way !== 'server'
  const bench = isShared
    ? await copyOfUsed(windowName)
    : await playWork(way, windowName, `${way}-${windowName}`)
  bench.simulator.addSteps(besides(way))
  if (!isFull) {
    const at = PROMPTS[way === 'from' ? 1 : 2]
    const span = way === 'from' || way === 'up-to' ? [`--${way}`, await idOf(bench, at)] : []
    const ran = await bench.run(['compact', ...span, ...window])
    if (ran.exit !== 0) throw new Error(`exit ${ran.exit}: ${ran.err}`)
    await turn(
      bench,
      LAST_WISH,
      [{ content: [text('Done.')], when: { source: 'main' } }],
      [...window, '--continue'],
    )
  }
  return { bench, ...(await afterFirst(bench, way === 'notes' ? 'notes' : undefined)) }
}

/** The session up to where it is full, or somebody asks for a compaction. */
async function playWork(way: Way, windowName: WindowName, name: string): Promise<CommandBench> {
  const isNoted = way === 'notes'
  const size = SIZES[windowName][isNoted || way === 'auto' ? 'full' : 'used']
  const bench = await createCommandBench({ root: await fixedRoot(name), countsIds: true })
  await writeProject(bench.folder, size)
  // Where clearing would make the room no notes are written.
  await setFlags(bench, {
    'server-compaction': way === 'server',
    'background-calls': isNoted,
    'micro-batch': !isNoted,
  })
  if (isNoted || way === 'auto') bench.simulator.addSteps(besides(way))
  for (const [i, steps] of workSteps(size).entries())
    await turn(bench, PROMPTS[i] ?? '', steps, [
      '--window',
      String(WINDOWS[windowName]),
      ...(i === 0 ? [] : ['--continue']),
    ])
  return bench
}

interface Saved {
  readonly root: string
  readonly moment: CommandMoment
}

/** By window: a session that was played and not compacted, as it lies on disk. */
const used = new Map<WindowName, Saved>()

async function copyOfUsed(windowName: WindowName): Promise<CommandBench> {
  const name = `manual-${windowName}`
  const saved = used.get(windowName)
  if (!saved) {
    const bench = await playWork('manual', windowName, name)
    const root = await mkdtemp(join(tmpdir(), 'palimpsest-example-'))
    await cp(dirname(bench.home), root, { recursive: true, preserveTimestamps: true })
    used.set(windowName, { root, moment: bench.moment() })
    return bench
  }
  const bench = await createCommandBench({ root: await fixedRoot(name), countsIds: true, from: saved.moment })
  await cp(saved.root, dirname(bench.home), { recursive: true, preserveTimestamps: true })
  return bench
}

/** To be called when the last example was played. */
export async function forgetUsed(): Promise<void> {
  for (const { root } of used.values()) await rm(root, { recursive: true, force: true })
  used.clear()
}

async function turn(
  bench: CommandBench,
  prompt: string,
  steps: readonly ScriptStep[],
  more: readonly string[],
): Promise<void> {
  bench.simulator.addSteps(steps)
  const ran = await bench.run(['-p', prompt, '--permission-mode', 'bypass', ...more])
  if (ran.exit !== 0) throw new Error(`exit ${ran.exit}: ${ran.err}`)
}

/** The first compaction, or the first by this path: notes may be too dear at first. */
async function afterFirst(bench: CommandBench, path?: string): Promise<Omit<Example, 'bench'>> {
  const entries = await entriesOf(bench)
  const boundary = entries.find(
    (entry) => entry.kind === 'boundary' && (path === undefined || entry.meta.path === path),
  )
  const summary = entries.find(
    (entry) => entry.kind === 'message' && boundary?.kind === 'boundary' && entry.id === boundary.summary[0],
  )
  if (boundary?.kind !== 'boundary' || summary?.kind !== 'message') throw new Error('nothing was compacted')
  const said = JSON.stringify(summary.message.content)
  const request = bench
    .asked('main')
    .find(({ body }) => (typeof body === 'string' ? body : JSON.stringify(body)).includes(said))
  if (!request) throw new Error('nothing was asked after the compaction')
  return { request, boundary }
}

/** Paths stand in what is sent and are counted: the same in every run. Whoever comes second waits for the first. */
async function fixedRoot(name: string): Promise<string> {
  const root = `/tmp/palimpsest-example-${name}`
  const lock = await takeTurn(`${root}.lock`)
  onTestFinished(async () => await rm(lock, { recursive: true, force: true }))
  await rm(root, { recursive: true, force: true })
  await mkdir(root)
  return await realpath(root)
}

const TURN_MS = 120_000
const LOOK_MS = 200

async function takeTurn(lock: string): Promise<string> {
  for (let waited = 0; waited < TURN_MS; waited += LOOK_MS) {
    const isMine = await mkdir(lock).then(
      () => true,
      () => false,
    )
    if (isMine) return lock
    const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > TURN_MS) await rm(lock, { recursive: true, force: true })
    await sleep(LOOK_MS)
  }
  throw new Error(`${lock} is never given back`)
}

/** What is asked beside the conversation. */
function besides(way: Way): readonly ScriptStep[] {
  const said = way === 'fold' ? ' ' : SUMMARY
  return [
    { content: [text(said)], when: { source: 'compact' }, times: 9 },
    { content: [text(`<notes>\n${NOTES}\n</notes>`)], when: { source: 'session-memory' }, times: 9 },
  ]
}

/** The id of the message of the user that says this. */
async function idOf(bench: CommandBench, words: string): Promise<string> {
  const said = (await entriesOf(bench)).find(
    (entry) =>
      entry.kind === 'message' && entry.origin === 'user' && entry.json.includes(JSON.stringify(words)),
  )
  if (!said) throw new Error(`nobody said ${words}`)
  return said.id
}

/** All entries of the only session. */
export async function entriesOf({ home }: Pick<CommandBench, 'home'>): Promise<readonly Entry[]> {
  const names = await readdir(join(home, 'projects'), { recursive: true })
  const file = names.find((name) => /^[^/]+\/[^/]+\.jsonl$/.test(name)) ?? ''
  const lines = (await readFile(join(home, 'projects', file), 'utf8')).split('\n').slice(1)
  return lines.flatMap((line) => {
    const entry = line === '' ? undefined : decodeLine(line)
    return entry && 'id' in entry ? [entry] : []
  })
}
