import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, toStorageError } from '../files/to-storage-error.ts'

const TRANSCRIPT = '.jsonl'
/** How many files are examined in parallel. */
const BATCH = 64

/** How many sessions of a project were written to since then. `except`: id of a session that does not count. */
export async function touchedSessions(folder: string, sinceMs: number, except?: string): Promise<number> {
  const names = (await namesIn(folder)).filter(
    (name) => name.endsWith(TRANSCRIPT) && name !== `${except}${TRANSCRIPT}`,
  )
  let count = 0
  for (let at = 0; at < names.length; at += BATCH) {
    const times = await Promise.all(names.slice(at, at + BATCH).map((name) => timeOf(join(folder, name))))
    count += times.filter((ms) => ms > sinceMs).length
  }
  return count
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw toStorageError(error, 'read', folder)
  }
}

/** A session that was deleted meanwhile does not count. */
async function timeOf(path: string): Promise<number> {
  return await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => -Infinity,
  )
}
