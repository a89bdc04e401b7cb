import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'

import { readInput } from '../../packages/palimpsest-cli/src/run/read-input.ts'
import { runCli } from '../../packages/palimpsest-cli/src/commands/run-cli.ts'
import type { ExitCode, World } from '../../packages/palimpsest-cli/src/world.ts'
import { leavingNothing } from './process-state.ts'
import { ROOT } from './source-tree.ts'

// The command inside of the test's process: all that `main` wires, without the time that a process takes to start. What the command
// sees is made for it, and it must leave the process as it found it.

export interface InsideRun {
  readonly cwd: string
  readonly env: { readonly [name: string]: string }
  readonly stdin?: string | Buffer | undefined
  /** What starts the command again, as a process; without it nothing does. */
  readonly self?: readonly string[] | undefined
  /** Tells it to stop, as a signal tells a process. */
  readonly signal?: AbortSignal | undefined
}

export interface RanInside {
  readonly exit: ExitCode
  readonly out: string
  readonly err: string
}

/** As much as a pipe gives at once. */
const CHUNK_BYTES = 64 * 1024

export async function runInside(args: readonly string[], run: InsideRun): Promise<RanInside> {
  const [out, err]: [Buffer[], Buffer[]] = [[], []]
  const world: World = {
    ...worldInside(run),
    // As bytes: half a character comes out as it would of a process.
    print: (text) => void out.push(Buffer.from(text)),
    printError: (text) => void err.push(Buffer.from(text)),
  }
  const exit = await leavingNothing(async () => await runCli(args, world))
  return { exit, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }
}

/** What the command sees of the machine. What it prints is for the caller to take. */
export function worldInside({
  cwd,
  env,
  stdin,
  self,
  signal,
}: InsideRun): Omit<World, 'print' | 'printError'> {
  return {
    version: readVersion(),
    nodeVersion: process.version,
    env,
    cwd,
    userHome: env['HOME'] ?? '/',
    now: () => Date.now(),
    platform: process.platform,
    readInput: async (required) => await readInput(Readable.from(chunksOf(stdin)), required),
    ...(self && { self }),
    signal: signal ?? new AbortController().signal,
  }
}

function chunksOf(stdin: string | Buffer = ''): readonly Buffer[] {
  const bytes = Buffer.from(stdin)
  const count = Math.ceil(bytes.length / CHUNK_BYTES)
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES))
}

function readVersion(): string {
  const manifest = readFileSync(join(ROOT, 'packages/palimpsest-cli/package.json'), 'utf8')
  return /"version": "([^"]+)"/.exec(manifest)?.[1] ?? 'unknown'
}
