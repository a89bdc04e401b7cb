#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'

import { keepCompiled } from './run/keep-compiled.ts'
import { readInput } from './run/read-input.ts'
import { runCli } from './commands/run-cli.ts'
import { createConsole } from './tui/console.ts'
import { WRONG_USAGE } from './world.ts'

// The only file that reads the arguments and the environment, and the only place where everything is wired together.

const stop = new AbortController()
const end = (): void => stop.abort()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, end)
// Closing the terminal also ends us in good order. A process without one, as under `nohup`, should survive it.
if (process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY) process.once('SIGHUP', end)

// A reader that went away (`| head`) or a closed terminal is not our error. The command ends by itself, or keeps serving.
const GONE = new Set(['EPIPE', 'EIO'])
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (!GONE.has(error.code ?? '')) fail(Object.assign(error, { path: 'the output' }))
})
// If stderr is gone, there is no way left to report an error.
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

/** An error that nothing caught still becomes a sentence. Whatever was under way cannot continue. */
function fail(error: unknown): void {
  void endWith(error)
}

async function endWith(error: unknown): Promise<void> {
  const { reportError } = await import('./report-error.ts')
  const { text, exit } = reportError(error, { debug: process.argv.includes('--debug') })
  process.stderr.write(text, () => process.exit(exit))
}

/** The current folder may have been deleted. */
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
