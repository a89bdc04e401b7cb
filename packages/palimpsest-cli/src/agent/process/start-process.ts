import { spawn, type ChildProcess } from 'node:child_process'
import { Writable, type Readable } from 'node:stream'

import type { ChildEnvironment } from './child-environment.ts'

// The one place where processes are started; a test keeps it that way. The type of the environment sees to it that no key of ours is in it.
// Each leads a group of its own, so that all it starts can be ended with it: a sandbox whose first process alone is ended while it starts leaves
// another one behind that waits for good and holds the channels.

export interface ProcessStart {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: ChildEnvironment
  /** What it reads from channels of its own, each to its end. */
  readonly inputs?: readonly { readonly fd: number; readonly bytes: Uint8Array }[]
}

export type Channel = 'pipe' | 'ignore'

export interface ProcessChannels {
  /** Channel by channel; those that are not named are ignored. */
  readonly stdio: readonly Channel[]
}

export function startProcess(
  { program, args, cwd, env, inputs = [] }: ProcessStart,
  { stdio }: ProcessChannels,
): ChildProcess {
  const last = Math.max(2, stdio.length - 1, ...inputs.map(({ fd }) => fd))
  const channels = Array.from({ length: last + 1 }, (_, fd): Channel =>
    inputs.some((input) => input.fd === fd) ? 'pipe' : (stdio[fd] ?? 'ignore'),
  )
  const child = spawn(program, [...args], { cwd, env, stdio: channels, detached: true })
  for (const { fd, bytes } of inputs) {
    const channel = child.stdio.at(fd)
    if (!(channel instanceof Writable)) continue
    // A program that is gone before it has read tells so by its end.
    channel.on('error', () => undefined)
    channel.end(bytes)
  }
  return child
}

export function signalGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // The group is gone already.
  }
}

/** At once. What left the group may still hold the channels: nobody waits for that. */
export function killGroup(child: ChildProcess): void {
  signalGroup(child, 'SIGKILL')
  const letGo = (): void => {
    for (const stream of child.stdio) stream?.destroy()
  }
  if (child.exitCode === null && child.signalCode === null) child.once('exit', letGo)
  else letGo()
}

/**
 * Our own command, in a process that goes on when this one ends. It needs what this one was given, keys included. What it prints goes to the
 * open file `output`; nobody reads it where there is none. Says whether it has ended.
 */
export function startBeside(
  { program, args, cwd }: Pick<ProcessStart, 'program' | 'args' | 'cwd'>,
  env: { readonly [name: string]: string | undefined },
  output: number | 'ignore' = 'ignore',
): () => boolean {
  const stdio = ['ignore', output, output] as const
  const child = spawn(program, [...args], { cwd, env: { ...env }, stdio: [...stdio], detached: true })
  let hasEnded = false
  // Whoever could not start it does without.
  child.on('error', () => (hasEnded = true)).on('exit', () => (hasEnded = true))
  child.unref()
  return () => hasEnded
}

export interface ProcessBounds {
  readonly msMax: number
  /** Of each stream. */
  readonly bytesMax: number
}

export type ProcessEnd =
  | { readonly kind: 'exited'; readonly code: number; readonly stdout: string; readonly stderr: string }
  /** It could not be started, was ended, printed too much or took too long. */
  | { readonly kind: 'failed'; readonly message: string }

/** To its end, without input. Never rejects. */
export function runProcess(start: ProcessStart, { msMax, bytesMax }: ProcessBounds): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    const child = startProcess(start, { stdio: ['ignore', 'pipe', 'pipe'] })
    let end: ProcessEnd | undefined
    const fail = (message: string): void => {
      end ??= { kind: 'failed', message }
      killGroup(child)
    }
    const stdout = collect(child.stdout, bytesMax, () => fail('it printed too much'))
    const stderr = collect(child.stderr, bytesMax, () => fail('it printed too much'))
    const timer = setTimeout(() => fail('it took too long'), msMax)
    child.once('error', (error) => {
      clearTimeout(timer)
      resolve({ kind: 'failed', message: error.message })
    })
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      const ended: ProcessEnd =
        code === null
          ? { kind: 'failed', message: `it was ended by ${signal}` }
          : { kind: 'exited', code, stdout: stdout(), stderr: stderr() }
      resolve(end ?? ended)
    })
  })
}

function collect(stream: Readable | null, bytesMax: number, onTooMuch: () => void): () => string {
  const chunks: Buffer[] = []
  let size = 0
  stream?.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= bytesMax) chunks.push(chunk)
    else onTooMuch()
  })
  return () => Buffer.concat(chunks).toString('utf8')
}

/** What it printed. Undefined where it is missing, fails, prints too much or takes too long. */
export async function outputOf(start: ProcessStart, bounds: ProcessBounds): Promise<string | undefined> {
  const end = await runProcess(start, bounds)
  return end.kind === 'exited' && end.code === 0 ? end.stdout : undefined
}
