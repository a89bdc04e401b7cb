import { readdir, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { StorageError } from '../../errors.ts'
import { createExclusively } from '../files/atomic-write.ts'
import { readBytes } from './file-lines.ts'
import type { TranscriptWarning } from './transcript-warning.ts'

/** One session never has this many torn lines. */
const SIDE_FILES_MAX = 10_000

const SIDE_MARK = '.torn-'

/** The files with torn lines of a transcript. */
export async function tornFilesOf(path: string): Promise<readonly string[]> {
  const names = await readdir(dirname(path))
  const start = `${basename(path)}${SIDE_MARK}`
  return names.filter((name) => name.startsWith(start)).map((name) => join(dirname(path), name))
}

/** Moves an incomplete last line to a separate file, then cuts it off. Only the single writer does this. */
export async function cutTornLine(
  handle: FileHandle,
  { home, path, offset, size }: { home: string; path: string; offset: number; size: number },
): Promise<TranscriptWarning> {
  const side = await saveBeside(home, path, await readBytes(handle, offset, size))
  await handle.truncate(offset)
  await handle.sync()
  const text =
    `the last line of ${path} was incomplete (${size - offset} bytes, from an interrupted write). ` +
    `It was moved to ${side}; the session continues from the line before`
  return { kind: 'torn-line', text, offset }
}

async function saveBeside(home: string, path: string, bytes: Buffer): Promise<string> {
  for (let number = 1; number <= SIDE_FILES_MAX; number++) {
    const side = `${path}${SIDE_MARK}${number}`
    if (await createExclusively(home, side, bytes)) return side
  }
  throw new StorageError('io', `there are too many ${path}${SIDE_MARK}* files. Move some away`)
}
