import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import { StorageError } from '../../errors.ts'
import type { Entry } from '../../transcript/entry.ts'
import { decodeWholeLine, isBlank, openToRead, readLines, textBeside } from './file-lines.ts'
import { openInside } from '../files/inside-home.ts'
import { storedFiles, type StoredFile, type StoredFilesWish } from './stored-files.ts'

// Everything that is stored about a project, file by file, newest files first, in bounded memory. Links are not followed: nothing outside
// the project's folder is read.

export type StoredItem =
  | { readonly kind: 'entry'; readonly session: string; readonly entry: Entry }
  /** A piece of a text file, at most about a megabyte, or a line that is no entry. Pieces of the same file overlap. */
  | {
      readonly kind: 'text'
      readonly session: string
      /** Path of the file below the project's folder; for a line, with its offset. */
      readonly id: string
      readonly at: number
      readonly text: string
      readonly isMemory?: boolean | undefined
    }

export interface StoredWish extends StoredFilesWish {
  readonly home: string
  /** The byte where reading a file begins; undefined skips the file. Absent: everything is read. */
  readonly startOf?: ((file: StoredFile) => number | undefined) | undefined
  /** Gets a line's bytes as characters; false skips the line. */
  readonly isWanted: (line: string) => boolean
  readonly onProblem: (text: string) => void
}

const PIECE_BYTES = 1 << 20
/** Characters at the end of a piece that the next one repeats. */
const OVERLAP_CHARS = 8_192

export async function* readStored(wish: StoredWish, signal: AbortSignal): AsyncGenerator<StoredItem> {
  for (const file of await storedFiles(wish)) {
    if (signal.aborted) return
    const start = wish.startOf ? wish.startOf(file) : 0
    if (start === undefined) continue
    try {
      const handle = await openInside(wish.home, file.path, constants.O_RDONLY)
      try {
        yield* readFile(handle, { ...file, at: file.mtime, start }, wish, signal)
      } finally {
        await handle.close()
      }
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      wish.onProblem(error.message)
    }
  }
}

/** The same for a single transcript anywhere. */
export async function* readStoredFile(
  path: string,
  { isWanted }: Pick<StoredWish, 'isWanted'>,
  signal: AbortSignal,
): AsyncGenerator<StoredItem> {
  const handle = await openToRead(path)
  try {
    const { mtimeMs } = await handle.stat()
    const session = basename(path, '.jsonl')
    const file = { path, id: basename(path), session, at: mtimeMs, start: 0 }
    yield* readEntries(handle, file, { isWanted }, signal)
  } finally {
    await handle.close()
  }
}

interface ReadFile extends Pick<StoredFile, 'path' | 'id' | 'session'> {
  readonly isMemory?: boolean
  readonly at: number
  readonly start: number
}

function readFile(
  handle: FileHandle,
  file: ReadFile,
  wish: StoredWish,
  signal: AbortSignal,
): AsyncGenerator<StoredItem> {
  return file.path.endsWith('.jsonl')
    ? readEntries(handle, file, wish, signal)
    : readPieces(handle, file, signal)
}

async function* readEntries(
  handle: FileHandle,
  { id, session, at, start }: ReadFile,
  { isWanted }: Pick<StoredWish, 'isWanted'>,
  signal: AbortSignal,
): AsyncGenerator<StoredItem> {
  const { size } = await handle.stat()
  for await (const { bytes, offset } of readLines(handle, size, start)) {
    if (signal.aborted) return
    if (!bytes || isBlank(bytes) || !isWanted(bytes.toString('latin1'))) continue
    const { entries, problem, remark } = decodeWholeLine(bytes)
    // In an odd line, text that belongs to no entry can be found too.
    if (problem !== undefined || remark !== undefined)
      yield { kind: 'text', session, id: `${id}:${offset}`, at, text: textBeside(bytes, entries) }
    for (const { entry } of entries) yield { kind: 'entry', session, entry }
  }
}

/** Cut at line ends if there are any. */
async function* readPieces(
  handle: FileHandle,
  { id, session, at, start, isMemory }: ReadFile,
  signal: AbortSignal,
): AsyncGenerator<StoredItem> {
  const decoder = new TextDecoder('utf-8')
  const chunk = Buffer.allocUnsafe(PIECE_BYTES)
  let rest = ''
  for (let position = start; !signal.aborted;) {
    const { bytesRead } = await handle.read(chunk, 0, PIECE_BYTES, position)
    position += bytesRead
    const text = rest + decoder.decode(chunk.subarray(0, bytesRead), { stream: bytesRead > 0 })
    if (text !== '' && text !== rest) yield { kind: 'text', session, id, at, text, isMemory }
    if (bytesRead === 0) return
    const overlap = text.slice(-OVERLAP_CHARS)
    rest = overlap.slice(overlap.indexOf('\n') + 1)
  }
}
