import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError, UsageError } from '../../errors.ts'
import { isAgentName } from '../../layers/7-agents/mail/letter.ts'
import { parseTaskEvent, type TaskEvent } from '../../layers/7-agents/team/task.ts'
import type { TaskLog } from '../../ports.ts'
import { parseJson } from '../../wire/json.ts'
import { syncFolder } from '../files/atomic-write.ts'
import { makeFolder, openInside } from '../files/inside-home.ts'
import { waitForLock } from '../files/lock.ts'
import { hasCode, toStorageError } from '../files/to-storage-error.ts'
import { cutTornLine } from '../transcripts/torn-line.ts'

// The tasks of a team, `teams/<team>/tasks.jsonl`: one line per event. A writer holds the lock from the first read to the last byte on
// disk. An unreadable line stays where it is, counts for nothing, and is reported.

/** Far more than the limits on tasks allow; the file is read completely with every change. */
const FILE_BYTES_MAX = 64 << 20
const NEWLINE = 10

export interface TaskFile {
  readonly home: string
  readonly team: string
}

interface Logged {
  readonly events: readonly TaskEvent[]
  readonly damaged: readonly string[]
}

/** The task list of one team, for any number of processes. `home`: from `openHome`. */
export async function openFileTaskLog({ home, team }: TaskFile): Promise<TaskLog<TaskEvent>> {
  if (!isAgentName(team))
    throw new UsageError(`a team cannot be called ${JSON.stringify(team)}: letters, digits, - and _`)
  const folder = await makeFolder(home, join(home, 'teams', team))
  const path = join(folder, 'tasks.jsonl')
  const file = { home, path }
  // One after the other, so that calls of one process do not wait for each other by polling.
  let last: Promise<unknown> = Promise.resolve()
  return {
    read: async () => await readFromDisk(file),
    change: (decide) => {
      const changed = last.then(async () => {
        const lock = await waitForLock(home, `${path}.lock`, 'the tasks of the team')
        try {
          return await changeOnDisk(file, decide)
        } finally {
          await lock.release()
        }
      })
      last = changed.catch(() => undefined)
      return changed
    },
  }
}

interface Place {
  readonly home: string
  readonly path: string
}

async function readFromDisk({ home, path }: Place): Promise<Logged> {
  let handle: FileHandle
  try {
    handle = await openInside(home, path, constants.O_RDONLY)
  } catch (error) {
    if (hasCode(error instanceof Error ? (error.cause ?? error) : error, 'ENOENT'))
      return { events: [], damaged: [] }
    throw error
  }
  try {
    return parseLines(path, wholeLines(await readAll(handle, path)))
  } finally {
    await handle.close()
  }
}

async function changeOnDisk(
  { home, path }: Place,
  decide: (events: readonly TaskEvent[]) => readonly TaskEvent[],
): Promise<Logged> {
  const handle = await openInside(home, path, constants.O_RDWR | constants.O_CREAT)
  try {
    const bytes = await readAll(handle, path)
    const whole = wholeLines(bytes)
    const logged = parseLines(path, whole)
    const torn: string[] = []
    if (whole.length < bytes.length) {
      await cutTornLine(handle, { home, path, offset: whole.length, size: bytes.length })
      torn.push(
        `${path} ended in an incomplete line, of a process that was killed. It was moved to a file beside`,
      )
    }
    const added = decide(logged.events)
    const damaged = [...logged.damaged, ...torn]
    if (added.length === 0) return { ...logged, damaged }
    await append(handle, path, { at: whole.length, events: added })
    if (bytes.length === 0) await syncFolder(join(path, '..'))
    return { events: [...logged.events, ...added], damaged }
  } catch (error) {
    throw toStorageError(error, 'change', path)
  } finally {
    await handle.close()
  }
}

async function readAll(handle: FileHandle, path: string): Promise<Buffer> {
  const found = await handle.stat()
  if (!found.isFile()) throw new StorageError('io', `${path} is no file. Move it away`)
  if (found.size > FILE_BYTES_MAX)
    throw new StorageError('io', `${path} is larger than any task list. Move it away, or begin another team`)
  const bytes = Buffer.alloc(found.size)
  let filled = 0
  while (filled < bytes.length) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

/** Without an incomplete end that is still being written, or whose writer was killed. */
function wholeLines(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1)
}

function parseLines(path: string, bytes: Buffer): Logged {
  const events: TaskEvent[] = []
  const damaged: string[] = []
  const lines = bytes.toString('utf8').split('\n')
  lines.forEach((line, i) => {
    if (line.trim() === '') return
    const event = parseTaskEvent(parseJson(line))
    if (typeof event === 'string')
      damaged.push(
        `line ${i + 1} of ${path} cannot be read (${event}). It stays there and counts for nothing`,
      )
    else events.push(event)
  })
  return { events, damaged }
}

/** All of them are on disk, or none. */
async function append(
  handle: FileHandle,
  path: string,
  { at, events }: { readonly at: number; readonly events: readonly TaskEvent[] },
): Promise<void> {
  const bytes = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''), 'utf8')
  if (at + bytes.length > FILE_BYTES_MAX)
    throw new StorageError('io', `${path} is full. Begin another team for what is left to do`)
  try {
    let written = 0
    while (written < bytes.length) {
      const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, at + written)
      if (bytesWritten === 0) throw new StorageError('io', 'the disk took no bytes. Check it and try again')
      written += bytesWritten
    }
    await handle.datasync()
  } catch (error) {
    // Anything that was written is no complete line, or was never confirmed.
    await handle.truncate(at).catch(() => undefined)
    throw error
  }
}
