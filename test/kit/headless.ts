import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

import { inject, onTestFinished } from 'vitest'

import { serve } from '../../packages/palimpsest/src/node/serving/serve.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import {
  createSimulator,
  STRICT_SWITCHES,
  type Simulator,
} from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { isJsonObject, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import type { World } from '../../packages/palimpsest-cli/src/world.ts'
import { runInside, worldInside, type InsideRun } from './run-inside.ts'
import { ROOT } from './source-tree.ts'
import { removeFolder } from './temp-home.ts'

// The command against the simulator behind a real socket: `run` inside of the test's process, `start` as a process of its own, where
// the test is about processes. It sees a home, a folder and an environment made for the test, and nothing of ours: no keys, no settings.

/** Program and first arguments. Only tests that are named heavy start processes: only they have it. */
export const COMMAND = [process.execPath, inject('bundle')] as const
/** Compiled code is kept from one start to the next: half of the time of a short run. */
export const COMPILED = join(ROOT, 'node_modules/.cache/palimpsest-compiled')

export interface Bench {
  readonly simulator: Simulator
  readonly url: string
  /** PALIMPSEST_HOME. */
  readonly home: string
  /** The working folder. */
  readonly folder: string
  /** The user's own folder. */
  readonly userHome: string
  /** Inside of the test's process. */
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Ran>
  /** As a process of its own: for kills, signals, pipes, two at once, memory. */
  readonly start: (args: readonly string[], options?: RunOptions) => Started
  /** What a command inside of the test's process sees of the machine; what it prints goes to `texts`. */
  readonly worldFor: (texts: { out: string; err: string }, env?: RunOptions['env']) => World
}

export interface BenchOptions {
  /** What answers instead of the simulator, where it has an answer. */
  readonly instead?: (request: Request) => Response | undefined
}

export interface RunOptions {
  /** What stands on stdin; nothing unless given. */
  readonly stdin?: string | Buffer
  /** Added to the environment; undefined takes a variable out. */
  readonly env?: { readonly [name: string]: string | undefined }
  readonly cwd?: string
  /** Run inside, it starts others of its kind, as a team does: those are processes. */
  readonly startsOthers?: boolean
  /** Inside of the test's process: tells it to stop, as a signal tells a process. */
  readonly signal?: AbortSignal
}

export interface Ran {
  readonly exit: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

export interface Started {
  readonly child: ChildProcess
  /** Lines of stdout, as they come. */
  readonly lines: AsyncIterableIterator<string>
  readonly ended: Promise<Ran>
}

/** A bench whose simulator refuses whatever any reading of the rules refuses, and every request that no script foresaw. */
export async function createBench(options: SimulatorOptions & BenchOptions = {}): Promise<Bench> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-headless-')))
  const switches = { ...STRICT_SWITCHES, pastScript: 'refuse' as const, ...options.switches }
  const simulator = createSimulator({ ...options, switches })
  const served = await serve(
    async (request) => options.instead?.(request) ?? (await simulator.fetch(request)),
  )
  onTestFinished(async () => {
    await served.close()
    await removeFolder(root)
  })
  const [home, folder, userHome] = [join(root, 'home'), join(root, 'work'), join(root, 'user')]
  await mkdir(folder)
  await mkdir(userHome)
  // Scripts foresee the requests of turns: tests about memories turn it on.
  const own = {
    PALIMPSEST_HOME: home,
    HOME: userHome,
    PALIMPSEST_BASE_URL: served.url,
    PALIMPSEST_MEMORY_EXTRACT: '0',
  }
  const settle = ({ stdin, env, cwd = folder, startsOthers, signal }: RunOptions = {}): InsideRun => ({
    cwd,
    env: withoutUndefined({
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: startsOthers ? COMPILED : undefined,
      ...own,
      ...env,
    }),
    stdin,
    self: startsOthers ? COMMAND : undefined,
    signal,
  })
  return {
    simulator,
    url: served.url,
    home,
    folder,
    userHome,
    start: (args, options) => startCommand(args, settle(options)),
    worldFor: (texts, env = {}) => ({
      ...worldInside(settle({ env })),
      print: (text) => (texts.out += text),
      printError: (text) => (texts.err += text),
    }),
    run: async (args, options) => ({ ...(await runInside(args, settle(options))), signal: null }),
  }
}

function withoutUndefined(env: NonNullable<RunOptions['env']>): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

function startCommand(args: readonly string[], { cwd, env, stdin }: InsideRun): Started {
  const [program, ...first] = COMMAND
  const child = spawn(program, [...first, ...args], {
    cwd,
    env: { NODE_COMPILE_CACHE: COMPILED, ...env },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  // A command that ends before it has read everything is no failure of the test.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(stdin)
  const { stdout, stderr } = child
  if (!stdout || !stderr) throw new Error('the command has no output')
  const texts = { out: '', err: '' }
  stdout.setEncoding('utf8').on('data', (chunk: string) => (texts.out += chunk))
  stderr.setEncoding('utf8').on('data', (chunk: string) => (texts.err += chunk))
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const ended = new Promise<Ran>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exit, signal) => resolve({ exit, signal, ...texts }))
  })
  return { child, lines, ended }
}

/** Every line of stdout, which must be one JSON object each. */
export function jsonLines(out: string): readonly JsonObject[] {
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => jsonObject(line))
}

export function jsonObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text)
  if (!isJsonObject(value)) throw new Error(`no JSON object: ${text.slice(0, 200)}`)
  return value
}

/** A member that must be a string. */
export function stringIn(value: JsonObject, name: string): string {
  const found = value[name]
  if (typeof found !== 'string')
    throw new Error(`${name} is no string: ${JSON.stringify(value).slice(0, 200)}`)
  return found
}

/** The body of a request that reached the simulator; the first one unless said otherwise. */
export function sentBody({ simulator }: Pick<Bench, 'simulator'>, index = 0): JsonObject {
  const body = simulator.requests().at(index)?.body
  return jsonObject(typeof body === 'string' ? body : JSON.stringify(body))
}

/**
 * Whether a later request begins with all that an earlier one sent, byte for byte. The marks of the cache may move, and the longest answer
 * that is asked for follows the window: it is in no cache key.
 */
export function startsWithAll(later: object | string, earlier: object | string): boolean {
  const [long, short] = [later, earlier].map((body) =>
    (typeof body === 'string' ? body : JSON.stringify(body))
      .replaceAll(/,"cache_control":\{[^}]*\}/g, '')
      .replace(/"max_tokens":\d+,/, ''),
  )
  return long?.startsWith(short?.replace(/\]\}$/, '') ?? '') ?? false
}

/** Paths of the transcripts in the bench's home. Below them lie agents' own and checkpoints. */
export async function transcriptsOf({ home }: Pick<Bench, 'home'>): Promise<readonly string[]> {
  const names = await readdir(join(home, 'projects'), { recursive: true }).catch(() => [])
  return names
    .filter((name) => /^[^/]+\/[^/]+\.jsonl$/.test(name))
    .map((name) => join(home, 'projects', name))
}

/** The lines of the only transcript there is. */
export async function onlyTranscript(bench: Pick<Bench, 'home'>): Promise<readonly JsonObject[]> {
  const paths = await transcriptsOf(bench)
  const [path] = paths
  if (path === undefined || paths.length > 1)
    throw new Error(`${paths.length} transcripts: ${paths.join(', ')}`)
  return jsonLines(await readFile(path, 'utf8'))
}

/** Writes a file, and the folders it lies in. */
export async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

export const text = (words: string) => ({ type: 'text', text: words }) as const
export const thinking = (words: string) => ({ type: 'thinking', thinking: words }) as const
export const call = (name: string, input: JsonObject) => ({ type: 'tool_use', name, input }) as const
