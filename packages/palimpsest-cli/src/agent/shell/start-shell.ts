import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'

import { signalGroup, startProcess, type ProcessStart } from '../process/start-process.ts'
import { stateIn, type ToldState } from './shell-state.ts'
import { createOutputBuffer, OUTPUT_LIMITS, type OutputBuffer } from './output-buffer.ts'

// One command in a shell of its own, in a process group of its own, so that all it started can be ended with it.

export interface ShellCommand {
  /** As it was asked for. */
  readonly command: string
  /** A bash with the arguments of `shellArguments`, wherever it runs. */
  readonly start: ProcessStart
  /** Once it has ended, with all it started: lines to add to what it printed. */
  readonly onEnd?: ((end: ShellEnd) => Promise<readonly string[]>) | undefined
  /** Told what it prints, as it comes. */
  readonly onOutput?: ((chunk: Uint8Array) => void) | undefined
}

export type ShellEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'not-started'; readonly message: string }

export interface RunningShell {
  readonly output: OutputBuffer
  /** Resolves when the shell has ended and what it printed is in the buffer. */
  readonly ended: Promise<ShellEnd & { readonly told: ToldState }>
  /** Ends the whole group: asked first, forced after a moment. */
  readonly kill: () => void
  readonly isRunning: () => boolean
  /** The shell, or something it started, is still there. */
  readonly hasLeftovers: () => boolean
}

/**
 * The command is evaluated, so that a syntax error is its own affair; what it prints comes in one stream, in order. At its end the
 * shell tells its folder on a channel that the command does not have. What a shell tells that is kept: see `shell-state.ts`.
 */
const WRAPPER = `exec 2>&1; trap '{ pwd -P >&9; } 2>/dev/null' EXIT; eval "shift
$1" 9>&-`
const STATE_CHANNEL = 9
/** More than is ever kept. */
const STATE_BYTES_MAX = 2_000_000
/** Between asking a process to end and ending it. */
const GRACE_MS = 2000
/** After the shell has ended: how long to wait for a process it left behind that still holds its output. */
const DRAIN_MS = 200

/** Enough for any pipeline; a program that only copies itself is stopped by it. The kernel does not count those of root. */
const PROCESSES_MAX = 4096

/** What bash is started with, to run the command as above. */
export function shellArguments(command: string): readonly string[] {
  return ['-c', WRAPPER, 'bash', command]
}

/** The same for one that nobody was asked about. */
export function boundedArguments(command: string): readonly string[] {
  return ['-c', `ulimit -u ${PROCESSES_MAX} 2>/dev/null; ${WRAPPER}`, 'bash', command]
}

/** The same, with a way out of the sandbox started before it. It is nobody's job, so that `wait` does not wait for it. */
export function forwardedArguments(
  command: string,
  { node, script, socket }: { readonly node: string; readonly script: string; readonly socket: string },
): readonly string[] {
  const quotedWords = [node, '-e', script, socket].map(
    (word) => `'${word.replaceAll("'", String.raw`'\''`)}'`,
  )
  const begin = `: "$(${quotedWords.join(' ')} 9>&- 2>/dev/null & )"`
  return ['-c', `${begin}; ulimit -u ${PROCESSES_MAX} 2>/dev/null; ${WRAPPER}`, 'bash', command]
}

export function startShell({ start, onOutput, onEnd }: ShellCommand): RunningShell {
  const output = createOutputBuffer(OUTPUT_LIMITS)
  const channels = Array.from({ length: STATE_CHANNEL + 1 }, (_, channel) =>
    channel === 1 || channel === 2 || channel === STATE_CHANNEL ? ('pipe' as const) : ('ignore' as const),
  )
  const child = startProcess(start, { stdio: channels })
  let running = true
  let hasLeftovers = true
  const streams = child.stdio.filter(isReadable)
  const take = (chunk: Buffer): void => {
    output.push(chunk)
    onOutput?.(chunk)
  }
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', take)
  const told = collect(child.stdio.at(STATE_CHANNEL))
  const ended = endOf(child, streams).then(async (end) => {
    hasLeftovers = groupExists(child)
    const notes = (await onEnd?.(end)) ?? []
    if (notes.length > 0) output.push(Buffer.from(`\n${notes.join('\n')}`))
    running = false
    return { ...end, told: stateIn(told()) }
  })
  return {
    output,
    ended,
    isRunning: () => running,
    hasLeftovers: () => hasLeftovers,
    kill: () => {
      // The number of a group that is gone may belong to somebody else by now.
      if (!hasLeftovers) return
      signalGroup(child, 'SIGTERM')
      const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE_MS)
      void ended.then(() => {
        clearTimeout(timer)
        if (hasLeftovers) signalGroup(child, 'SIGKILL')
      })
    },
  }
}

function collect(stream: unknown): () => string {
  const chunks: Buffer[] = []
  let size = 0
  if (isReadable(stream)) {
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= STATE_BYTES_MAX) chunks.push(chunk)
    })
  }
  return () => Buffer.concat(chunks).toString('utf8')
}

function isReadable(stream: unknown): stream is Readable {
  return typeof stream === 'object' && stream !== null && 'on' in stream && 'read' in stream
}

function endOf(child: ChildProcess, streams: readonly Readable[]): Promise<ShellEnd> {
  return new Promise((resolve) => {
    let end: ShellEnd | undefined
    let drain: ReturnType<typeof setTimeout> | undefined
    const finish = (): void => {
      clearTimeout(drain)
      // A process left behind may still hold the channels: what it prints is read and forgotten, and holds nobody up.
      for (const stream of streams) {
        stream.removeAllListeners('data')
        stream.resume()
        if (stream instanceof Socket) stream.unref()
      }
      if (end !== undefined) resolve(end)
    }
    child.once('error', (error) => {
      end = { kind: 'not-started', message: error.message }
      finish()
    })
    child.once('exit', (code, signal) => {
      end = signal === null ? { kind: 'exited', code: code ?? 0 } : { kind: 'killed', signal }
      drain = setTimeout(finish, DRAIN_MS)
    })
    child.once('close', finish)
  })
}

function groupExists(child: ChildProcess): boolean {
  if (child.pid === undefined) return false
  try {
    return process.kill(-child.pid, 0)
  } catch {
    return false
  }
}
