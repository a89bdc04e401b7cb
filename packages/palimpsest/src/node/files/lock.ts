import { randomUUID } from 'node:crypto'
import { stat, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { StorageError } from '../../errors.ts'
import { parseJsonObject } from '../../wire/json.ts'
import { createExclusively, writeAtomically } from './atomic-write.ts'
import { NO_PROCESS, ownIdentity, stateOf, type ProcessIdentity } from './process-identity.ts'
import { hasCode, toStorageError } from './to-storage-error.ts'
import { readPlainText } from './plain-file.ts'

// One writer per transcript. The lock is a file that names its holder and appears together with its content, by a hard link, so exactly one
// of many processes can create it. A lock whose holder is gone is replaced by whoever holds the lock *on that lock*, named by its token:
// only that process may touch it, and it checks again before doing so. (Removing a stale lock without that would let two removers win.)

export interface Lock {
  readonly path: string
  readonly release: () => Promise<void>
}

interface Holder extends ProcessIdentity {
  readonly token: string
}

/** Rounds of "it was there, now it is not" before giving up. In each of them another process made progress. */
const ROUNDS_MAX = 100
/** A holder died while replacing a dead holder's lock, and so on: deeper than this is no coincidence. */
const DEPTH_MAX = 8
/** An unreadable lock younger than this is still being written (only on file systems without hard links). */
const WRITING_MS = 5000

/** Throws `StorageError('locked')`, with the holder and what to do, if another process has the lock. */
export async function takeLock(home: string, path: string): Promise<Lock> {
  return takeAt(home, path, 0)
}

/** A change under a lock takes milliseconds. A process that holds it longer than this is stuck, and the lock names it. */
const LOCK_WAIT_MS = 20_000
const LOCK_POLL_MS = 7

/** For changes that processes make in turn: waits for the one that holds the lock. `what`: what is changed, for the error message. */
export async function waitForLock(home: string, path: string, what: string): Promise<Lock> {
  const until = Date.now() + LOCK_WAIT_MS
  for (;;) {
    try {
      return await takeLock(home, path)
    } catch (error) {
      if (!(error instanceof StorageError) || error.failure !== 'locked') throw error
      if (Date.now() > until)
        throw new StorageError('locked', `somebody else is changing ${what}: ${path} names the process`, {
          cause: error,
        })
      // Random, so that waiting processes do not retry in step.
      await sleep(LOCK_POLL_MS * (1 + Math.random()))
    }
  }
}

async function takeAt(home: string, path: string, depth: number): Promise<Lock> {
  const self: Holder = { ...(await ownIdentity()), token: randomUUID() }
  const content = JSON.stringify(self)
  const lock: Lock = { path, release: () => releaseAt(path, self.token) }
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (await createExclusively(home, path, content, 'fleeting')) return lock
    const holder = await readHolder(path)
    if (!holder) continue
    const state = await stateOf(holder)
    if (state !== 'gone' || depth === DEPTH_MAX) throw lockedBy(holder, state, path)
    if (await replaceStale(home, path, { stale: holder.token, content, depth })) return lock
  }
  throw new StorageError('locked', `${path} is taken and released all the time. Try again later`)
}

interface Replacement {
  readonly stale: string
  readonly content: string
  readonly depth: number
}

async function replaceStale(
  home: string,
  path: string,
  { stale, content, depth }: Replacement,
): Promise<boolean> {
  const guard = await takeAt(home, `${path}.${stale}`, depth + 1)
  try {
    if ((await readHolder(path))?.token !== stale) return false
    await writeAtomically(home, path, content, 'fleeting')
    return true
  } finally {
    await guard.release()
  }
}

/** Undefined if there is no lock, or if it is still being written. */
async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const holder = parseHolder(await readPlainText(path))
    if (holder) return holder
    const { mtimeMs, ino } = await stat(path)
    const beingWritten = Date.now() - mtimeMs < WRITING_MS
    return beingWritten ? undefined : { pid: NO_PROCESS, host: hostname(), token: `unreadable-${ino}` }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw toStorageError(error, 'read the lock', path)
  }
}

/** The token becomes part of a path, so it must have our form. */
const TOKEN = /^[\w-]{1,64}$/

function parseHolder(text: string): Holder | undefined {
  const value = parseJsonObject(text)
  if (!value) return undefined
  const { pid, host, token, startTicks, boot } = value
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return undefined
  if (typeof host !== 'string' || typeof token !== 'string' || !TOKEN.test(token)) return undefined
  return {
    pid,
    host,
    token,
    ...(typeof startTicks === 'string' && { startTicks }),
    ...(typeof boot === 'string' && { boot }),
  }
}

/** While its holder lives, no one else touches a lock, so checking and removing may be two steps. */
async function releaseAt(path: string, token: string): Promise<void> {
  try {
    if ((await readHolder(path))?.token === token) await unlink(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw toStorageError(error, 'release the lock', path)
  }
}

function lockedBy(holder: Holder, state: 'running' | 'gone' | 'unknown', path: string): StorageError {
  const where = state === 'unknown' ? `process ${holder.pid} on ${holder.host}` : `process ${holder.pid}`
  const cure =
    state === 'unknown'
      ? `Close it there, continue in a fork, or, if that machine no longer runs it, delete ${path}`
      : 'Close it there, or continue in a fork of it'
  return new StorageError('locked', `the session is open for writing in ${where}. ${cure}`)
}
