import type { FileHandle } from 'node:fs/promises'
import { StorageError } from '../../errors.ts'
import { decodeHeader, FORMAT, HEADER_START, type Header } from '../../transcript/lines/header.ts'
import { NEWLINE, readBytes, withoutMark } from './file-lines.ts'

/** Longer than any header: a path has at most 4,096 bytes, six times as many if escaped. */
const HEADER_BYTES_MAX = 1 << 16

export interface FoundHeader {
  readonly header: Header
  /** Including its line end. */
  readonly bytes: number
}

/** Undefined if the first line is no header. Throws for a newer format. */
export async function readHeader(handle: FileHandle, path: string): Promise<FoundHeader | undefined> {
  const start = await readBytes(handle, 0, HEADER_BYTES_MAX)
  const newline = start.indexOf(NEWLINE)
  const line = withoutMark(start.toString('utf8', 0, newline === -1 ? start.length : newline))
  const read = decodeHeader(line)
  switch (read.kind) {
    case 'header':
      return { header: read.header, bytes: newline === -1 ? start.length : newline + 1 }
    case 'newer':
      throw new StorageError(
        'newer-format',
        `${path} has format ${read.format}, this program knows ${FORMAT}. Update Palimpsest to open it; the file was not changed`,
      )
    case 'none':
      return undefined
    default:
      return read satisfies never
  }
}

/** A header whose writing was interrupted: its beginning, or the zeros that a file system leaves after a power failure. */
export async function isHeaderStart(handle: FileHandle, size: number): Promise<boolean> {
  if (size > HEADER_BYTES_MAX) return false
  const bytes = await readBytes(handle, 0, size)
  const start = withoutMark(bytes.toString('utf8')).slice(0, HEADER_START.length)
  return HEADER_START.startsWith(start) || bytes.every((byte) => byte === 0)
}
