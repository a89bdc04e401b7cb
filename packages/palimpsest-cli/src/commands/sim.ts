import { resolve } from 'node:path'

import { UsageError } from 'palimpsest'
import type { ScriptStep } from 'palimpsest/simulator'

import type { Command, CommandInput } from './command.ts'
import { DONE, type ExitCode, type World } from '../world.ts'

const PORT_MAX = 65_535

export const sim: Command = {
  name: 'sim',
  usage: '[options]',
  summary: 'simulate the Messages API on this machine',
  options: { port: { type: 'string' }, script: { type: 'string' }, clock: { type: 'string' } },
  wordsMax: 0,
  run: runSim,
}

async function runSim({ flags }: CommandInput, world: World): Promise<ExitCode> {
  const port = parsePort(flags['port'])
  const clock = parseClock(flags['clock'])
  const script = await readScript(flags['script'], world)
  // Loaded on demand: `--help` and the other commands start without it.
  const { createSimulator } = await import('palimpsest/simulator')
  const { serve } = await import('palimpsest/node')
  const simulator = createSimulator({ clock, script })
  const served = await serve(simulator.fetch, { port })
  world.print(`listening on ${served.url}\n`)
  await stopped(world.signal)
  await served.close()
  return DONE
}

function parsePort(text: string | boolean | undefined): number {
  if (text === undefined) return 0
  const port = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : NaN
  if (port <= PORT_MAX) return port
  throw new UsageError(`--port "${text}": give a number from 0 to ${PORT_MAX}; 0 takes any free port`)
}

function parseClock(text: string | boolean | undefined): 'real' | 'virtual' {
  if (text === undefined || text === 'real') return 'real'
  if (text === 'virtual') return 'virtual'
  throw new UsageError(`--clock "${text}": use real or virtual`)
}

const SCRIPT_FORM = '{"steps":[{"content":[{"type":"text","text":"…"}]}]}'

async function readScript(path: string | boolean | undefined, world: World): Promise<readonly ScriptStep[]> {
  if (typeof path !== 'string') return []
  const { parseSteps } = await import('palimpsest/simulator')
  const steps = parseSteps(await readJson(resolve(world.cwd, path)))
  if (typeof steps === 'string')
    throw new UsageError(`--script ${path}: ${steps}. A script is ${SCRIPT_FORM}`)
  return steps
}

async function readJson(path: string): Promise<unknown> {
  const { readPlainText } = await import('palimpsest/node')
  try {
    return JSON.parse(await readPlainText(path))
  } catch (error) {
    const why =
      error instanceof SyntaxError ? `is not JSON: ${error.message}` : 'is not a file that can be read'
    throw new UsageError(`--script ${path} ${why}. Give a JSON file: ${SCRIPT_FORM}`, { cause: error })
  }
}

function stopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
