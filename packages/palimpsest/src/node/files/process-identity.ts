import { hostname } from 'node:os'
import { hasCode } from './to-storage-error.ts'
import { readPlainText } from './plain-file.ts'

// A process id alone names no process: ids are used again. With the start time (Linux) and the boot it does.

export interface ProcessIdentity {
  readonly pid: number
  readonly host: string
  /** Clock ticks since boot. Linux only. */
  readonly startTicks?: string
  readonly boot?: string
}

/** The id of nobody: the holder never said its name. */
export const NO_PROCESS = 0

/** What does not change while a process lives: every lock that is taken names it. */
const own = { stat: once(async () => await statOf(process.pid)), boot: once(readBootId) }

export async function ownIdentity(): Promise<ProcessIdentity> {
  const [stat, boot] = await Promise.all([own.stat(), own.boot()])
  return {
    pid: process.pid,
    host: hostname(),
    ...(stat && { startTicks: stat.startTicks }),
    ...(boot !== undefined && { boot }),
  }
}

/** `unknown`: the process would be on another machine, and cannot be looked for from here. */
export async function stateOf(identity: ProcessIdentity): Promise<'running' | 'gone' | 'unknown'> {
  if (identity.host !== hostname()) return 'unknown'
  if (identity.boot !== undefined && identity.boot !== (await own.boot())) return 'gone'
  if (!exists(identity.pid)) return 'gone'
  const stat = await statOf(identity.pid)
  if (!stat) return exists(identity.pid) ? 'running' : 'gone'
  if (stat.ended) return 'gone'
  return identity.startTicks === undefined || identity.startTicks === stat.startTicks ? 'running' : 'gone'
}

function exists(pid: number): boolean {
  if (pid === NO_PROCESS) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // EPERM: it is there, but somebody else's.
    return hasCode(error, 'EPERM')
  }
}

/** Place of the start time in `/proc/<pid>/stat`, counted behind the name in parentheses. */
const START_TICKS_FIELD = 19

async function statOf(
  pid: number,
): Promise<{ readonly startTicks: string; readonly ended: boolean } | undefined> {
  const text = await readPlainText(`/proc/${pid}/stat`).catch(() => '')
  // The name may hold spaces and parentheses, so the last one counts.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const startTicks = fields[START_TICKS_FIELD]
  // Z: killed and not yet buried by its parent. X: dead.
  return startTicks === undefined ? undefined : { startTicks, ended: 'ZX'.includes(fields[0] ?? '') }
}

async function readBootId(): Promise<string | undefined> {
  const text = await readPlainText('/proc/sys/kernel/random/boot_id').catch(() => '')
  return text.trim() === '' ? undefined : text.trim()
}

/** What could not be read is tried again. */
function once<T>(read: () => Promise<T | undefined>): () => Promise<T | undefined> {
  let known: T | undefined
  return async () => (known ??= await read())
}
