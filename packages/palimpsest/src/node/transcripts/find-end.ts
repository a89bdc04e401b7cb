import type { FileHandle } from 'node:fs/promises'
import { StorageError } from '../../errors.ts'
import { decodeWholeLine, isBlank, LINE_BYTES_MAX, NEWLINE, readBytes } from './file-lines.ts'

export interface FileEnd {
  /** Where the last readable line ends, excluding its line end. */
  readonly lastEnd: number
  /** Where an incomplete line begins. Absent: there is none. */
  readonly torn?: number
  /** The last readable line has no line end. */
  readonly unended?: true
}

const CHUNK_BYTES = 1 << 16

/** How a file ends. A text that decodes is complete: no part of a JSON object is a JSON object. */
export async function findEnd(handle: FileHandle, size: number): Promise<FileEnd> {
  const start = await lastLineStart(handle, size)
  if (start === size) return { lastEnd: Math.max(0, size - 1) }
  const tail = await readBytes(handle, start, size)
  if (isBlank(tail)) return { lastEnd: size, unended: true }
  const { entries, torn } = decodeWholeLine(tail)
  if (entries.length === 0) return { lastEnd: Math.max(0, start - 1), torn: start }
  if (torn === 0) return { lastEnd: size, unended: true }
  return { lastEnd: size - torn, torn: size - torn, unended: true }
}

/** Position after the last line end of the file. */
async function lastLineStart(handle: FileHandle, size: number): Promise<number> {
  for (let to = size; to > 0;) {
    const from = Math.max(0, to - CHUNK_BYTES)
    const newline = (await readBytes(handle, from, to)).lastIndexOf(NEWLINE)
    if (newline !== -1) return from + newline + 1
    to = from
    if (size - to > LINE_BYTES_MAX)
      throw new StorageError(
        'not-a-transcript',
        'the last line is longer than 256 MB, so this is not a transcript. Name another file',
      )
  }
  return 0
}
