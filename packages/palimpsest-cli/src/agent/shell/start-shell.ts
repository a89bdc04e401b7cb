import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'

import { signalGroup, startProcess, type ProcessStart } from '../process/start-process.ts'
import { stateIn, type ToldState } from './shell-state.ts'
import { createOutputBuffer, OUTPUT_LIMITS, type OutputBuffer } from './output-buffer.ts'

// Runs one command in its own shell and its own process group, so that everything it started can be ended with it.

export interface ShellCommand {
  /** As the model wrote it. */
  readonly command: string
  /** A bash with the arguments of `shellArguments`, wherever it runs. */
  readonly start: ProcessStart
  /** Runs after the shell has ended. Returns lines to add to its output. */
  readonly onEnd?: ((end: ShellEnd) => Promise<readonly string[]>) | undefined
  /** Receives the output as it comes. */
  readonly onOutput?: ((chunk: Uint8Array) => void) | undefined
}

export type ShellEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'not-started'; readonly message: string }

export interface RunningShell {
  readonly output: OutputBuffer
  /** Resolves when the shell has ended and its output is in the buffer. */
  readonly ended: Promise<ShellEnd & { readonly told: ToldState }>
  /** Ends the whole group: asks first, and kills it after a moment. */
  readonly kill: () => void
  readonly isRunning: () => boolean
  /** The shell, or something it started, is still there. */
  readonly hasLeftovers: () => boolean
}

/**
 * Evaluates the command, so that a syntax error affects only the command. Its output comes in one stream, in order. At its end the shell
 * reports its folder on a channel that the command does not have. A kept shell reports more: see `shell-state.ts`.
 */
const WRAPPER = `exec 2>&1; trap '{ pwd -P >&9; } 2>/dev/null' EXIT; eval "shift
$1" 9>&-`
const STATE_CHANNEL = 9
/** More than we ever keep. */
const STATE_BYTES_MAX = 2_000_000
/** Time between asking a process to end and killing it. */
const GRACE_MS = 2000
/** After the shell has ended: how long to wait for a process that it left behind and that still holds its output. */
const DRAIN_MS = 200

/** Enough for any pipeline, and it stops a program that only copies itself. The kernel does not limit root. */
const PROCESSES_MAX = 4096

/** Arguments for a bash that runs the command as above. */
export function shellArguments(command: string): readonly string[] {
  return ['-c', WRAPPER, 'bash', command]
}

/** The same for a command that runs unasked. */
export function boundedArguments(command: string): readonly string[] {
  return ['-c', `ulimit -u ${PROCESSES_MAX} 2>/dev/null; ${WRAPPER}`, 'bash', command]
}

/** The same, with the forwarder out of the sandbox started first. It is not a job of the shell, so `wait` does not wait for it. */
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
      // The id of a group that has ended may already belong to another one.
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
      // A process left behind may still hold the channels: we read and drop what it prints, and it delays nothing.
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
