import { constants } from 'node:fs'
import { join } from 'node:path'

import { makeFolder, openInside } from '../files/inside-home.ts'
import { toStorageError } from '../files/to-storage-error.ts'

// A log for each day, one line per turn: a dream reads it first. Concurrent writers each write whole lines.

export const LOGS_FOLDER = 'logs'

/** `logs/2026/11/2026-11-18.md`, by the UTC day. */
export function dailyPath(memoryFolder: string, at: number): string {
  const day = new Date(at).toISOString().slice(0, 'yyyy-mm-dd'.length)
  const [year = '', month = ''] = day.split('-')
  return join(memoryFolder, LOGS_FOLDER, year, month, `${day}.md`)
}

export async function appendDaily(
  { home, path }: { readonly home: string; readonly path: string },
  at: number,
  line: string,
): Promise<void> {
  const file = dailyPath(path, at)
  try {
    await makeFolder(home, join(file, '..'))
    const { O_APPEND, O_CREAT, O_WRONLY } = constants
    const handle = await openInside(home, file, O_APPEND | O_CREAT | O_WRONLY)
    try {
      await handle.appendFile(`${line.replaceAll(/[\r\n]+/g, ' ')}\n`)
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw toStorageError(error, 'write', file)
  }
}
