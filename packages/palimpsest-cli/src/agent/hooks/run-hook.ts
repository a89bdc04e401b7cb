import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'

import type { ChildEnvironment } from '../process/child-environment.ts'
import { signalGroup, startProcess } from '../process/start-process.ts'
import type { CommandHook } from './read-hooks.ts'

// Runs one command of the user for one event: the event as JSON on its stdin, its own process group, bounded output and time.

export type HookEnd =
  | { readonly kind: 'exited'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'broken'; readonly message: string }

export interface HookPlace {
  readonly cwd: string
  readonly env: ChildEnvironment
}

/** With a socket as its stdin, bash takes itself for a remote shell and reads the user's `.bashrc`, whose output would be the hook's. */
const SHELL = ['--norc', '-c']
/** For each stream; the rest is read and dropped. */
export const OUTPUT_BYTES_MAX = 1 << 20
/** Time between asking a process to end and killing it. */
const GRACE_MS = 500
/** After the command has ended: how long to wait for a process that it left behind and that still holds its output. */
const DRAIN_MS = 200

/** Never rejects. */
export async function runHook(
  hook: CommandHook,
  input: string,
  { cwd, env }: HookPlace,
  signal: AbortSignal,
): Promise<HookEnd> {
  if (signal.aborted) return { kind: 'broken', message: 'stopped' }
  const [program, args] =
    hook.args === undefined ? ['bash', [...SHELL, hook.command]] : [hook.command, hook.args]
  const child = startProcess({ program, args, cwd, env }, { stdio: ['pipe', 'pipe', 'pipe'] })
  const output = { stdout: collect(child.stdout), stderr: collect(child.stderr) }
  // A command that reads nothing may end before everything is written.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)
  const ended = endOf(child)
  let cut: HookEnd | undefined
  let grace: ReturnType<typeof setTimeout> | undefined
  const stop = (why: HookEnd): void => {
    cut ??= why
    signalGroup(child, 'SIGTERM')
    grace ??= setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE_MS)
  }
  const timer = setTimeout(() => stop({ kind: 'timed-out' }), hook.timeoutMs)
  const onAbort = (): void => stop({ kind: 'broken', message: 'stopped' })
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  const end = await ended
  clearTimeout(timer)
  // The id of a group that has ended may already belong to another one.
  clearTimeout(grace)
  signal.removeEventListener('abort', onAbort)
  // If the command ran too long, everything it started ends with it.
  if (cut) signalGroup(child, 'SIGKILL')
  if (cut || typeof end === 'string') return cut ?? { kind: 'broken', message: String(end) }
  return { kind: 'exited', code: end, stdout: output.stdout(), stderr: output.stderr() }
}

function collect(stream: Readable | null): () => string {
  const chunks: Buffer[] = []
  let size = 0
  stream?.on('data', (chunk: Buffer) => {
    const room = OUTPUT_BYTES_MAX - size
    if (room > 0) chunks.push(chunk.subarray(0, room))
    size += chunk.length
  })
  return () => Buffer.concat(chunks).toString('utf8')
}

/** The exit code, or what went wrong. */
function endOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    let end: number | string | undefined
    let drain: ReturnType<typeof setTimeout> | undefined
    const finish = (): void => {
      clearTimeout(drain)
      for (const stream of [child.stdout, child.stderr]) stream?.destroy()
      resolve(end ?? 0)
    }
    child.once('error', (error) => {
      end = error.message
      finish()
    })
    child.once('exit', (code, killed) => {
      end ??= code ?? `it was ended by ${killed}`
      drain = setTimeout(finish, DRAIN_MS)
    })
    child.once('close', finish)
  })
}
