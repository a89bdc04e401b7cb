import { spawn, type ChildProcess } from 'node:child_process'
import { Writable, type Readable } from 'node:stream'

import type { ChildEnvironment } from './child-environment.ts'

// The only place where processes are started; a test keeps it that way. The type of the environment guarantees that it has no key of ours.
// Each process leads its own group, so that everything it starts can be ended with it. If only the first process of a sandbox were ended
// during its start, another one would stay behind, wait without end and hold the channels.

export interface ProcessStart {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: ChildEnvironment
  /** What it reads from additional channels, each to its end. */
  readonly inputs?: readonly { readonly fd: number; readonly bytes: Uint8Array }[]
}

export type Channel = 'pipe' | 'ignore'

export interface ProcessChannels {
  /** By file descriptor; channels that are not listed are ignored. */
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
    // A program that ends before it has read everything reports that by its end.
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
    // The group has already ended.
  }
}

/** Ends it at once. A process that left the group may still hold the channels; nobody waits for it. */
export function killGroup(child: ChildProcess): void {
  signalGroup(child, 'SIGKILL')
  const letGo = (): void => {
    for (const stream of child.stdio) stream?.destroy()
  }
  if (child.exitCode === null && child.signalCode === null) child.once('exit', letGo)
  else letGo()
}

/**
 * Starts our own command in a process that continues when this one ends. It needs the environment of this process, keys included. Its
 * output goes to the open file `output`; without one, nobody reads it. The returned function says whether it has ended.
 */
export function startBeside(
  { program, args, cwd }: Pick<ProcessStart, 'program' | 'args' | 'cwd'>,
  env: { readonly [name: string]: string | undefined },
  output: number | 'ignore' = 'ignore',
): () => boolean {
  const stdio = ['ignore', output, output] as const
  const child = spawn(program, [...args], { cwd, env: { ...env }, stdio: [...stdio], detached: true })
  let hasEnded = false
  // If it does not start, the caller works without it.
  child.on('error', () => (hasEnded = true)).on('exit', () => (hasEnded = true))
  child.unref()
  return () => hasEnded
}

export interface ProcessBounds {
  readonly msMax: number
  /** For each stream. */
  readonly bytesMax: number
}

export type ProcessEnd =
  | { readonly kind: 'exited'; readonly code: number; readonly stdout: string; readonly stderr: string }
  /** It did not start, was ended by a signal, printed too much or took too long. */
  | { readonly kind: 'failed'; readonly message: string }

/** Runs it to its end, without input. Never rejects. */
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

/** What it printed. Undefined if it is missing, fails, prints too much or takes too long. */
export async function outputOf(start: ProcessStart, bounds: ProcessBounds): Promise<string | undefined> {
  const end = await runProcess(start, bounds)
  return end.kind === 'exited' && end.code === 0 ? end.stdout : undefined
}
