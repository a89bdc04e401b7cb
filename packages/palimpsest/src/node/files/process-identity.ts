import { hostname } from 'node:os'
import { hasCode } from './to-storage-error.ts'
import { readPlainText } from './plain-file.ts'

// A process id alone does not identify a process, since ids are reused. Together with the start time (Linux) and the boot it does.

export interface ProcessIdentity {
  readonly pid: number
  readonly host: string
  /** Clock ticks since boot. Linux only. */
  readonly startTicks?: string
  readonly boot?: string
}

/** No process has this id: the holder never wrote its name. */
export const NO_PROCESS = 0

/** Constant while a process lives. Every lock that it takes contains it. */
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

/** `unknown`: the process is on another machine and cannot be checked from here. */
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
    // EPERM: the process exists but belongs to another user.
    return hasCode(error, 'EPERM')
  }
}

/** Index of the start time in `/proc/<pid>/stat`, counted after the name in parentheses. */
const START_TICKS_FIELD = 19

async function statOf(
  pid: number,
): Promise<{ readonly startTicks: string; readonly ended: boolean } | undefined> {
  const text = await readPlainText(`/proc/${pid}/stat`).catch(() => '')
  // The name may contain spaces and parentheses, so the last one counts.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const startTicks = fields[START_TICKS_FIELD]
  // Z: ended, but its parent has not collected it. X: dead.
  return startTicks === undefined ? undefined : { startTicks, ended: 'ZX'.includes(fields[0] ?? '') }
}

async function readBootId(): Promise<string | undefined> {
  const text = await readPlainText('/proc/sys/kernel/random/boot_id').catch(() => '')
  return text.trim() === '' ? undefined : text.trim()
}

/** Remembers the result; a read that failed is tried again. */
function once<T>(read: () => Promise<T | undefined>): () => Promise<T | undefined> {
  let known: T | undefined
  return async () => (known ??= await read())
}
