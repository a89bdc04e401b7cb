#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'

import { keepCompiled } from './run/keep-compiled.ts'
import { readInput } from './run/read-input.ts'
import { runCli } from './commands/run-cli.ts'
import { createConsole } from './tui/console.ts'
import { WRONG_USAGE } from './world.ts'

// The only file that reads the arguments and the environment, and the only place where things are wired together.

const stop = new AbortController()
const end = (): void => stop.abort()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, end)
// A terminal that is closed ends us in good order too. Who has none, as under `nohup`, is to outlive it.
if (process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY) process.once('SIGHUP', end)

// A reader that went away (`| head`) and a terminal that was closed are no errors of ours. The command ends by itself, or goes on serving.
const GONE = new Set(['EPIPE', 'EIO'])
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (!GONE.has(error.code ?? '')) fail(Object.assign(error, { path: 'the output' }))
})
// Whoever does not hear what goes wrong cannot be told that either.
process.stderr.on('error', () => undefined)
process.on('uncaughtException', fail)

const place = { env: process.env, cwd: workingFolder(), userHome: homedir() }
// Before anything large is loaded.
keepCompiled(place)

process.exitCode = await runCli(process.argv.slice(2), {
  ...place,
  version: readVersion(),
  nodeVersion: process.version,
  now: () => Date.now(),
  platform: process.platform,
  readInput: async (required) => await readInput(process.stdin, required),
  print: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(text),
  ...(process.stdout.isTTY && { terminal: { columns: process.stdout.columns } }),
  ...(process.stderr.isTTY && { errorTerminal: { columns: process.stderr.columns } }),
  ...(process.stdin.isTTY &&
    process.stdout.isTTY && { console: createConsole(process.stdin, process.stdout, end) }),
  self: [process.execPath, ...process.execArgv, ...process.argv.slice(1, 2)],
  signal: stop.signal,
})

/** Nobody caught it: a sentence all the same. Whatever was under way has nothing to stand on any more. */
function fail(error: unknown): void {
  void endWith(error)
}

async function endWith(error: unknown): Promise<void> {
  const { reportError } = await import('./report-error.ts')
  const { text, exit } = reportError(error, { debug: process.argv.includes('--debug') })
  process.stderr.write(text, () => process.exit(exit))
}

/** The folder may be gone while we stand in it. */
function workingFolder(): string {
  try {
    return process.cwd()
  } catch {
    process.stderr.write(
      'palimpsest: the current folder is gone. `cd` to one that exists, and run it again\n',
    )
    return process.exit(WRONG_USAGE)
  }
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const known = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return known ? String(manifest.version) : 'unknown'
}
