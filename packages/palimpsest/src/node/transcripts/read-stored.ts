import { constants } from 'node:fs'
import { readdir, stat, type FileHandle } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { StorageError } from '../../errors.ts'
import type { Entry } from '../../transcript/entry.ts'
import { decodeWholeLine, isBlank, openToRead, readLines, type DecodedLine } from './file-lines.ts'
import { openInside } from '../files/inside-home.ts'
import { NOTES_FOLDER } from './notes-file.ts'

// Everything that is stored of a project, file by file, the newest files first, in bounded memory. Links are not followed: nothing
// outside of the project's folder is read.

export type StoredItem =
  | { readonly kind: 'entry'; readonly session: string; readonly entry: Entry }
  /** A piece of a text file, at most about a megabyte, or a line that is no entry. Pieces of one file overlap. */
  | {
      readonly kind: 'text'
      readonly session: string
      /** Path of the file below the project's folder; with the offset of a line. */
      readonly id: string
      readonly at: number
      readonly text: string
    }

export interface StoredWish {
  readonly home: string
  /** The project's folder below the home. */
  readonly folder: string
  /** Only this session, with its results and agents. */
  readonly session?: string
  /** Of a line's bytes as characters: false passes over it. */
  readonly isWanted: (line: string) => boolean
  readonly onProblem: (text: string) => void
}

/** Folders that hold no words of their own: copies of files, and notes, which are in the transcript. */
const PASSED_OVER = new Set(['checkpoints', NOTES_FOLDER])
const DEPTH_MAX = 4
const PIECE_BYTES = 1 << 20
/** So much of a piece stands at the beginning of the next one too. */
const OVERLAP_CHARS = 8_192

export async function* readStored(wish: StoredWish, signal: AbortSignal): AsyncGenerator<StoredItem> {
  for (const file of await filesOf(wish)) {
    if (signal.aborted) return
    try {
      const handle = await openInside(wish.home, file.path, constants.O_RDONLY)
      try {
        yield* readFile(handle, file, wish, signal)
      } finally {
        await handle.close()
      }
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      wish.onProblem(error.message)
    }
  }
}

/** The same of one transcript anywhere. */
export async function* readStoredFile(
  path: string,
  { isWanted }: Pick<StoredWish, 'isWanted'>,
  signal: AbortSignal,
): AsyncGenerator<StoredItem> {
  const handle = await openToRead(path)
  try {
    const { mtimeMs } = await handle.stat()
    const session = basename(path, '.jsonl')
    yield* readEntries(handle, { path, id: basename(path), session, at: mtimeMs }, { isWanted }, signal)
  } finally {
    await handle.close()
  }
}

interface StoredFile {
  readonly path: string
  readonly id: string
  readonly session: string
  readonly at: number
}

async function filesOf({ folder, session }: StoredWish): Promise<readonly StoredFile[]> {
  const paths = await pathsBelow(folder, 0)
  const files = await Promise.all(
    paths.map(async (path): Promise<StoredFile | undefined> => {
      const id = relative(folder, path)
      const owner = ownerOf(id)
      if (session !== undefined && owner !== session) return undefined
      const found = await stat(path).catch(() => undefined)
      return found && { path, id, session: owner, at: found.mtimeMs }
    }),
  )
  return files.filter((file) => file !== undefined).toSorted((a, b) => b.at - a.at)
}

/** `s-1.jsonl`, `s-1/tool-results/x.txt` both are of `s-1`. */
function ownerOf(id: string): string {
  const [first = '', second] = id.split(sep)
  return second === undefined ? basename(first, '.jsonl') : first
}

const TEXT_ENDS = ['.jsonl', '.txt', '.md']

async function pathsBelow(folder: string, depth: number): Promise<readonly string[]> {
  if (depth > DEPTH_MAX) return []
  const names = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name.name)
      if (name.isDirectory() && !PASSED_OVER.has(name.name)) return await pathsBelow(path, depth + 1)
      return name.isFile() && TEXT_ENDS.some((end) => name.name.endsWith(end)) ? [path] : []
    }),
  )
  return found.flat()
}

function readFile(
  handle: FileHandle,
  file: StoredFile,
  wish: StoredWish,
  signal: AbortSignal,
): AsyncGenerator<StoredItem> {
  return file.path.endsWith('.jsonl')
    ? readEntries(handle, file, wish, signal)
    : readPieces(handle, file, signal)
}

async function* readEntries(
  handle: FileHandle,
  { id, session, at }: StoredFile,
  { isWanted }: Pick<StoredWish, 'isWanted'>,
  signal: AbortSignal,
): AsyncGenerator<StoredItem> {
  const { size } = await handle.stat()
  for await (const { bytes, offset } of readLines(handle, size)) {
    if (signal.aborted) return
    if (!bytes || isBlank(bytes) || !isWanted(bytes.toString('latin1'))) continue
    const { entries, problem, remark } = decodeWholeLine(bytes)
    // Of an odd line also what belongs to no entry can be found.
    if (problem !== undefined || remark !== undefined)
      yield { kind: 'text', session, id: `${id}:${offset}`, at, text: textBeside(bytes, entries) }
    for (const { entry } of entries) yield { kind: 'entry', session, entry }
  }
}

function textBeside(bytes: Buffer, entries: DecodedLine['entries']): string {
  const texts: string[] = []
  let at = 0
  for (const { start, length } of entries) {
    texts.push(bytes.toString('utf8', at, start))
    at = start + length
  }
  return [...texts, bytes.toString('utf8', at)].join('')
}

/** Cut at line ends where there are any. */
async function* readPieces(
  handle: FileHandle,
  { id, session, at }: StoredFile,
  signal: AbortSignal,
): AsyncGenerator<StoredItem> {
  const decoder = new TextDecoder('utf-8')
  const chunk = Buffer.allocUnsafe(PIECE_BYTES)
  let rest = ''
  for (let position = 0; !signal.aborted;) {
    const { bytesRead } = await handle.read(chunk, 0, PIECE_BYTES, position)
    position += bytesRead
    const text = rest + decoder.decode(chunk.subarray(0, bytesRead), { stream: bytesRead > 0 })
    if (text !== '' && text !== rest) yield { kind: 'text', session, id, at, text }
    if (bytesRead === 0) return
    const overlap = text.slice(-OVERLAP_CHARS)
    rest = overlap.slice(overlap.indexOf('\n') + 1)
  }
}
