import { execFile, spawn, type ChildProcess, type StdioOptions } from 'node:child_process'

import type { ChildEnvironment } from './child-environment.ts'

// The one place where processes are started; a test keeps it that way. The type of the environment sees to it that no key of ours is in it.

export interface ProcessStart {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: ChildEnvironment
}

export interface ProcessChannels {
  readonly stdio: StdioOptions
  /** In a process group of its own, so that all it starts can be ended with it. */
  readonly hasGroup?: boolean
}

export function startProcess(
  { program, args, cwd, env }: ProcessStart,
  { stdio, hasGroup = false }: ProcessChannels,
): ChildProcess {
  return spawn(program, [...args], { cwd, env, stdio, detached: hasGroup })
}

export interface ProcessBounds {
  readonly msMax: number
  readonly bytesMax: number
}

/** What it printed. Undefined where it is missing, fails, prints too much or takes too long. */
export function outputOf(
  { program, args, cwd, env }: ProcessStart,
  { msMax, bytesMax }: ProcessBounds,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { cwd, env, timeout: msMax, maxBuffer: bytesMax, killSignal: 'SIGKILL' as const }
    const child = execFile(program, [...args], options, (error, stdout) =>
      resolve(error === null ? stdout : undefined),
    )
    child.stdin?.end()
  })
}
