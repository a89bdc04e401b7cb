import { mkdir, mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

import type { World } from '../../packages/palimpsest-cli/src/world.ts'
import { runCli } from '../../packages/palimpsest-cli/src/commands/run-cli.ts'
import { serve } from '../../packages/palimpsest/src/node/serving/serve.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import {
  createSimulator,
  STRICT_SWITCHES,
  type LoggedRequest,
  type Simulator,
} from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { SOURCE_HEADER } from '../../packages/palimpsest/src/lab/simulator/headers.ts'
import { isJsonObject, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { removeFolder } from './temp-home.ts'

// The command in this process, from its arguments to its exit code, against the simulator behind a real socket. Time stands still unless
// it is moved, for the command and for the provider alike: pauses of an hour take no time. Where a test needs a process of its own
// (signals, a terminal, what the machine's environment holds), `headless.ts` has one.

export interface CommandBench {
  readonly simulator: Simulator
  readonly url: string
  readonly home: string
  readonly folder: string
  readonly run: (args: readonly string[], env?: CommandEnv) => Promise<CommandRun>
  /** What a command sees of the machine; what it prints goes to `texts`. */
  readonly worldFor: (texts: { out: string; err: string }, env?: CommandEnv) => World
  /** Time passes. */
  readonly wait: (ms: number) => void
  /** How far its time and its ids are. */
  readonly moment: () => CommandMoment
  /** Requests by who asked: `main` for the conversation's own. */
  readonly asked: (source: string) => readonly LoggedRequest[]
}

export interface CommandEnv {
  readonly [name: string]: string | undefined
}

export interface CommandMoment {
  readonly now: number
  readonly ids: number
}

export interface CommandRun {
  readonly exit: number
  readonly out: string
  readonly err: string
  /** Decisions, where `--debug` was given: one JSON object a line of stderr. */
  readonly traces: readonly JsonObject[]
}

export interface CommandBenchOptions extends SimulatorOptions {
  /** What answers instead of the simulator, where it has an answer. */
  readonly instead?: (request: Request) => Response | undefined | Promise<Response | undefined>
  /** Where it takes place, instead of in a folder of its own that is removed afterwards. It is empty. */
  readonly root?: string
  /** Ids are counted: the same run writes the same bytes. */
  readonly countsIds?: boolean
  /** It goes on from where another one was. */
  readonly from?: CommandMoment
}

const START = 1_800_000_000_000
/** Scripts foresee the requests of turns: tests about memories turn them on again. */
const UNFORESEEN = { PALIMPSEST_MEMORY_EXTRACT: '0' }

/** The simulator refuses whatever any reading of the rules refuses, and every request that no script foresaw. */
export async function createCommandBench(options: CommandBenchOptions = {}): Promise<CommandBench> {
  const root = options.root ?? (await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-command-'))))
  const switches = { ...STRICT_SWITCHES, pastScript: 'refuse' as const, ...options.switches }
  const begin = options.from ?? { now: START, ids: 0 }
  const simulator = createSimulator({ ...options, switches, clock: { kind: 'virtual', start: begin.now } })
  const served = await serve(
    async (request) => (await options.instead?.(request)) ?? (await simulator.fetch(request)),
  )
  onTestFinished(async () => {
    await served.close()
    await removeFolder(root)
  })
  const [home, folder, userHome] = [join(root, 'home'), join(root, 'work'), join(root, 'user')]
  await mkdir(folder)
  await mkdir(userHome)
  let { now, ids } = begin
  const newId = (): string => `${(++ids).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
  const worldFor: CommandBench['worldFor'] = (texts, env = {}) => ({
    version: '1.2.3',
    nodeVersion: process.version,
    env: {
      PATH: process.env['PATH'],
      PALIMPSEST_HOME: home,
      PALIMPSEST_BASE_URL: served.url,
      ...UNFORESEEN,
      ...env,
    },
    cwd: folder,
    userHome,
    // Two entries never have one time.
    now: () => now++,
    ...(options.countsIds && { newId }),
    platform: process.platform,
    readInput: async () => ({ kind: 'none' }),
    print: (text) => (texts.out += text),
    printError: (text) => (texts.err += text),
    signal: new AbortController().signal,
  })
  const run: CommandBench['run'] = async (args, env) => {
    const texts = { out: '', err: '' }
    const exit = await runCli(args, worldFor(texts, env))
    return { exit, ...texts, traces: tracesIn(texts.err) }
  }
  return {
    simulator,
    url: served.url,
    home,
    folder,
    run,
    worldFor,
    wait: (ms) => {
      simulator.advance(ms)
      now += ms
    },
    moment: () => ({ now, ids }),
    asked: (source) =>
      simulator.requests().filter(({ headers }) => (headers[SOURCE_HEADER] ?? 'main') === source),
  }
}

function tracesIn(err: string): readonly JsonObject[] {
  return err.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return []
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) ? [value] : []
  })
}
