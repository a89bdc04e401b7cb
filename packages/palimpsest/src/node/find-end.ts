import type { FileHandle } from 'node:fs/promises'
import { decodeBytes, isBlank, NEWLINE, readBytes } from './file-lines.ts'

export interface FileEnd {
  /** Where the last whole line ends, its line end not counted. */
  readonly lastEnd: number
  /** Where an incomplete line begins. */
  readonly torn?: number
  /** The last line is whole but for its line end. */
  readonly unended?: true
}

const CHUNK_BYTES = 1 << 16

/** How a file ends. A text that decodes is whole: no part of an object is an object. */
export async function findEnd(handle: FileHandle, size: number): Promise<FileEnd> {
  const start = await lastLineStart(handle, size)
  if (start === size) return { lastEnd: Math.max(0, size - 1) }
  const tail = await readBytes(handle, start, size)
  const whole = isBlank(tail) || decodeBytes(tail).kind !== 'problem'
  return whole ? { lastEnd: size, unended: true } : { lastEnd: Math.max(0, start - 1), torn: start }
}

/** Behind the last line end of the file. */
async function lastLineStart(handle: FileHandle, size: number): Promise<number> {
  for (let to = size; to > 0;) {
    const from = Math.max(0, to - CHUNK_BYTES)
    const newline = (await readBytes(handle, from, to)).lastIndexOf(NEWLINE)
    if (newline !== -1) return from + newline + 1
    to = from
  }
  return 0
}
