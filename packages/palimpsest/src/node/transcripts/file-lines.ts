import { isUtf8 } from 'node:buffer'
import type { FileHandle } from 'node:fs/promises'
import { StorageError } from '../../errors.ts'
import { documentsRemark, findDocuments } from '../../wire/json-documents.ts'
import { decodeLine, type DecodeProblem } from '../../transcript/lines/codec.ts'
import type { Entry } from '../../transcript/entry.ts'
import { openPlainFile } from '../files/plain-file.ts'
import { toStorageError } from '../files/to-storage-error.ts'

// Reads the lines of a file of any size in pieces, never as one large text.

export const NEWLINE = 10
const CHUNK_BYTES = 1 << 20
/** Below the engine's longest string (512 MB). A longer line is garbage, not a message. */
export const LINE_BYTES_MAX = 1 << 28
export const LINE_TOO_LONG = 'the line is longer than 256 MB'
const READ_BYTES_MAX = LINE_BYTES_MAX + (1 << 24)

export interface RawLine {
  readonly offset: number
  /** Without the line end. Valid until the next line is requested. Undefined: longer than any line may be. */
  readonly bytes: Buffer | undefined
  readonly length: number
  /** False: the file ends before the line does. */
  readonly ended: boolean
}

/** Opens a plain file for reading, and nothing else, such as a folder or a pipe. */
export async function openToRead(path: string): Promise<FileHandle> {
  return await openPlainFile(path).catch((error: unknown) => {
    if (!(error instanceof StorageError)) throw toStorageError(error, 'open', path)
    const [what] = error.message.split('. ')
    throw new StorageError('not-a-transcript', `${what}. Name a transcript (*.jsonl)`, { cause: error })
  })
}

/** All lines up to `end`, in order, from a line's beginning. */
export async function* readLines(handle: FileHandle, end: number, begin = 0): AsyncGenerator<RawLine> {
  // Most files are far smaller than a chunk.
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(0, end - begin)))
  let parts: Buffer[] = []
  let length = 0
  let lineStart = begin
  for (let at = begin; at < end;) {
    const wanted = Math.min(chunk.length, end - at)
    const { bytesRead } = await handle.read(chunk, 0, wanted, at)
    if (bytesRead === 0) break
    let start = 0
    for (let stop = chunk.indexOf(NEWLINE, start); stop !== -1 && stop < bytesRead;) {
      const piece = chunk.subarray(start, stop)
      length += piece.length
      const bytes =
        length > LINE_BYTES_MAX ? undefined : parts.length === 0 ? piece : Buffer.concat([...parts, piece])
      yield { offset: lineStart, bytes, length, ended: true }
      lineStart = at + stop + 1
      parts = []
      length = 0
      start = stop + 1
      stop = chunk.indexOf(NEWLINE, start)
    }
    const rest = chunk.subarray(start, bytesRead)
    length += rest.length
    if (rest.length > 0) parts = length > LINE_BYTES_MAX ? [] : [...parts, Buffer.from(rest)]
    at += bytesRead
  }
  if (length === 0) return
  const bytes = length > LINE_BYTES_MAX ? undefined : Buffer.concat(parts)
  yield { offset: lineStart, bytes, length, ended: false }
}

/** Exactly these bytes; fewer only if the file has become shorter. No caller needs more than a line and a block. */
export async function readBytes(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  if (end - start > READ_BYTES_MAX) throw new StorageError('not-a-transcript', LINE_TOO_LONG)
  return await readInto(Buffer.allocUnsafe(Math.max(0, end - start)), handle, { start, end })
}

/** The same, into the first bytes of a buffer that is reused. */
export async function readInto(
  buffer: Buffer,
  handle: FileHandle,
  { start, end }: { readonly start: number; readonly end: number },
): Promise<Buffer> {
  let filled = 0
  while (start + filled < end) {
    const { bytesRead } = await handle.read(buffer, filled, end - start - filled, start + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

export function decodeBytes(bytes: Buffer | undefined): Entry | DecodeProblem {
  if (bytes === undefined || bytes.length > LINE_BYTES_MAX) {
    return { kind: 'problem', reason: LINE_TOO_LONG }
  }
  if (!isUtf8(bytes)) return { kind: 'problem', reason: 'the line is not UTF-8' }
  return decodeLine(withoutMark(bytes.toString('utf8')))
}

export interface DecodedLine {
  readonly entries: readonly { readonly entry: Entry; readonly start: number; readonly length: number }[]
  /** Why nothing of it could be read. */
  readonly problem?: string
  /** What is odd about a line that could be read in part. */
  readonly remark?: string
  /** Bytes at its end that belong to no entry. */
  readonly torn: number
}

/** All entries of a line: one, or several that an interrupted writer left on it. Starts and lengths are in bytes. */
export function decodeWholeLine(bytes: Buffer | undefined): DecodedLine {
  const entry = decodeBytes(bytes)
  if (bytes === undefined)
    return { entries: [], torn: 0, ...(entry.kind === 'problem' && { problem: entry.reason }) }
  if (entry.kind !== 'problem') return { entries: [{ entry, start: 0, length: bytes.length }], torn: 0 }
  // One character per byte, so that positions in the text are positions in the file. The syntax of JSON is all ASCII.
  const found = findDocuments(bytes.toString('latin1'))
  const entries = found.documents.flatMap(({ start, end }) => {
    const document = decodeBytes(bytes.subarray(start, end))
    return document.kind === 'problem' ? [] : [{ entry: document, start, length: end - start }]
  })
  const last = entries.at(-1)
  const remark = documentsRemark(found)
  if (!last || remark === undefined) return { entries: [], problem: entry.reason, torn: bytes.length }
  const rest = bytes.subarray(last.start + last.length)
  return { entries, remark, torn: isBlank(rest) ? 0 : rest.length }
}

/** For an odd line: the text that belongs to no entry. */
export function textBeside(bytes: Buffer, entries: DecodedLine['entries']): string {
  const texts: string[] = []
  let at = 0
  for (const { start, length } of entries) {
    texts.push(bytes.toString('utf8', at, start))
    at = start + length
  }
  return [...texts, bytes.toString('utf8', at)].join('')
}

/** Only white space: neither a line nor a problem. */
export function isBlank(bytes: Buffer | undefined): boolean {
  return bytes !== undefined && bytes.every((byte) => byte === 32 || (byte >= 9 && byte <= 13))
}

/** Some editors put a byte order mark before the first line. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}
