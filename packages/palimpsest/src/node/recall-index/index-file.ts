import { createHash } from 'node:crypto'
import { readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { Entry } from '../../transcript/entry.ts'
import {
  NO_CONTEXT,
  partsAt,
  rowsOfEntry,
  rowsOfText,
  withoutLabel,
  type IndexRow,
  type RowContext,
} from '../../recall/index-rows.ts'
import { decodeWholeLine, isBlank, NEWLINE, textBeside } from '../transcripts/file-lines.ts'
import type { StoredFile } from '../transcripts/stored-files.ts'
import { NO_STATE, readFileState, type FileState, type OpenTurn } from './file-state.ts'
import { numberOf, textOf, type IndexDatabase } from './index-database.ts'
import { insertRows, insertWords, shardName, shardOf, takeIds, type PlacedRow } from './write-rows.ts'

// Reads one file into the index, a slice at a time: from the end of the last slice to the last complete line. Each slice is a transaction,
// so a killed process leaves complete slices, and two processes that index the same file take turns.

/** Longer lines contain images. They stay in the file, and the index does not search them. */
const LINE_BYTES_MAX = 1 << 26

export interface IndexedFile {
  readonly id: number
  readonly ino: number
  readonly size: number
  readonly mtime: number
  /** Everything before this byte is in the index. */
  readonly offset: number
  readonly lastStart: number
  readonly lastHash: string
  readonly state: FileState
}

export function findIndexed(db: IndexDatabase, path: string): IndexedFile | undefined {
  const [row] = db.all('SELECT * FROM files WHERE path = ?', path)
  return row && toIndexed(row)
}

function toIndexed(row: { readonly [column: string]: unknown }): IndexedFile {
  const value = (name: string): number => numberOf(row[name])
  const state = readFileState(textOf(row['state']))
  return {
    ...{ id: value('id'), ino: value('ino'), size: value('size'), mtime: value('mtime') },
    ...{ offset: value('offset'), lastStart: value('last_start'), lastHash: textOf(row['last_hash']), state },
  }
}

/** Whether the indexed part is still there and more may follow: no one replaced the file or overwrote its end. */
export function stillHolds(handle: FileHandle, known: IndexedFile, file: StoredFile): boolean {
  if (known.ino !== file.ino || file.size < known.offset) return false
  if (file.size === known.size && file.mtime !== known.mtime) return false
  return known.lastHash === hashOf(readAt(handle, known.lastStart, known.offset))
}

export interface SliceWish {
  readonly db: IndexDatabase
  readonly handle: FileHandle
  readonly file: StoredFile
  readonly bytesMax: number
}

/** True: there is more to do. */
export function indexSlice(wish: SliceWish): boolean {
  const { db, handle, file, bytesMax } = wish
  const known = findIndexed(db, file.id) ?? begin(db, file)
  const end = Math.min(file.size, known.offset + bytesMax)
  const slice = file.path.endsWith('.jsonl')
    ? linesOf(handle, known, { end, size: file.size })
    : textOfFile(handle, known, file)
  const rows = placeRows(db, slice, known)
  insertRows(db, rows.placed)
  if (known.state.open && rows.after !== undefined) reopenTurn(db, handle, known.state.open, rows.after)
  db.run(
    'UPDATE files SET ino = ?, size = ?, mtime = ?, offset = ?, last_start = ?, last_hash = ?, state = ? WHERE id = ?',
    ...[file.ino, file.size, file.mtime, slice.offset, slice.lastStart, slice.lastHash],
    ...[JSON.stringify(rows.state), known.id],
  )
  return slice.offset > known.offset && slice.offset < file.size
}

function begin(db: IndexDatabase, file: StoredFile): IndexedFile {
  db.run(
    'INSERT INTO files(path, session, ino, size, mtime, offset, last_start, last_hash, state) VALUES(?,?,?,?,?,0,0,?,?)',
    ...[
      file.id,
      file.session,
      file.ino,
      file.size,
      file.mtime,
      hashOf(Buffer.alloc(0)),
      JSON.stringify(NO_STATE),
    ],
  )
  const made = findIndexed(db, file.id)
  if (!made) throw new Error(`the index did not take ${file.id}`)
  return made
}

/** An entry in a file, or a text that is no entry. */
interface Found {
  readonly offset: number
  readonly length: number
  readonly entry?: Entry
  readonly rows?: readonly IndexRow[]
  readonly at: number
}

interface Slice {
  readonly found: readonly Found[]
  readonly offset: number
  readonly lastStart: number
  readonly lastHash: string
}

/** Complete lines only: a line that is being written is read once it has ended. */
function linesOf(
  handle: FileHandle,
  known: IndexedFile,
  { end, size }: { readonly end: number; readonly size: number },
): Slice {
  const start = known.offset
  let bytes = readAt(handle, start, end)
  // A line longer than the slice is read to its end.
  for (let wanted = end - start; bytes.lastIndexOf(NEWLINE) === -1 && start + wanted < size;) {
    wanted = Math.min(wanted * 4, size - start)
    bytes = readAt(handle, start, start + wanted)
    if (bytes.length > LINE_BYTES_MAX) break
  }
  const stop = bytes.lastIndexOf(NEWLINE) + 1
  if (stop === 0 && bytes.length > LINE_BYTES_MAX) return passOver(handle, known, size)
  const found: Found[] = []
  let lastStart = known.lastStart - start
  for (let at = 0; at < stop;) {
    const newline = bytes.indexOf(NEWLINE, at)
    found.push(...documentsIn(bytes.subarray(at, newline), start + at))
    lastStart = at
    at = newline + 1
  }
  if (stop === 0) return { found, offset: start, lastStart: known.lastStart, lastHash: known.lastHash }
  const lastHash = hashOf(bytes.subarray(lastStart, stop))
  return { found, offset: start + stop, lastStart: start + lastStart, lastHash }
}

/** Skips to the end of a line that is too long. The hash covers its last bytes only. */
function passOver(handle: FileHandle, known: IndexedFile, size: number): Slice {
  for (let at = known.offset; at < size; at += LINE_BYTES_MAX) {
    const newline = readAt(handle, at, Math.min(size, at + LINE_BYTES_MAX)).indexOf(NEWLINE)
    if (newline === -1) continue
    const offset = at + newline + 1
    const lastStart = Math.max(known.offset, offset - 1)
    return { found: [], offset, lastStart, lastHash: hashOf(readAt(handle, lastStart, offset)) }
  }
  return { found: [], ...known }
}

function documentsIn(bytes: Buffer, offset: number): readonly Found[] {
  if (isBlank(bytes)) return []
  const { entries, problem, remark } = decodeWholeLine(bytes)
  const documents = entries.map(({ entry, start, length }): Found => {
    return { entry, offset: offset + start, length, at: entry.at }
  })
  if (problem === undefined && remark === undefined) return documents
  const at = Number.NaN
  const rows = rowsOfText(textBeside(bytes, entries), { kind: 'stored', block: BESIDE, at })
  return [...documents, { rows, offset, length: bytes.length, at }]
}

/** Used as block index for text outside the entries of a line. */
export const BESIDE = -2
/** Used as block index for a piece of a text file. */
export const WHOLE_PIECE = -3

const PIECE_BYTES = 1 << 20

/** A text file is read again from its beginning after every change, a megabyte at a time. */
function textOfFile(handle: FileHandle, known: IndexedFile, file: StoredFile): Slice {
  const start = known.offset
  const bytes = readAt(handle, start, Math.min(file.size, start + PIECE_BYTES))
  const isLast = start + bytes.length >= file.size
  const stop = isLast ? bytes.length : wholeEnd(bytes)
  const piece = bytes.subarray(0, stop)
  const kind = file.isMemory ? 'memory' : 'stored'
  const text = piece.toString('utf8')
  const rows =
    text.trim() === ''
      ? []
      : rowsOfText(text, {
          kind,
          block: WHOLE_PIECE,
          at: file.mtime,
          about: kind === 'memory' ? file.id : '',
        })
  const found = [{ rows, offset: start, length: stop, at: file.mtime }]
  const lastStart = start + Math.max(0, stop - HASHED_BYTES)
  return { found, offset: start + stop, lastStart, lastHash: hashOf(readAt(handle, lastStart, start + stop)) }
}

const HASHED_BYTES = 4_096

/** Position after the last line end; without one, a position that cuts no character. */
function wholeEnd(bytes: Buffer): number {
  const line = bytes.lastIndexOf(NEWLINE) + 1
  if (line > 0) return line
  let end = bytes.length
  while (end > 0 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end--
  return Math.max(1, end - 1)
}

interface Placed {
  readonly placed: readonly PlacedRow[]
  readonly state: FileState
  /** The first text of this slice: it follows the turn that was open. */
  readonly after: string | undefined
}

function placeRows(db: IndexDatabase, { found }: Slice, known: IndexedFile): Placed {
  let context: RowContext = known.state
  const units = new Map(Object.entries(known.state.units))
  const pending: { readonly of: Found; readonly row: IndexRow; readonly said: readonly string[] }[] = []
  for (const one of found) {
    const before = context
    const made = one.entry ? rowsOfEntry(one.entry, context) : { rows: one.rows ?? [], context }
    context = made.context
    for (const row of made.rows) pending.push({ of: one, row, said: before.said })
  }
  let id = takeIds(db, pending.length)
  const placed: PlacedRow[] = []
  let open: (OpenTurn & { readonly places: readonly number[] }) | undefined
  let first: string | undefined
  for (const { of, row, said } of pending) {
    const isSame = placed.at(-1)?.offset === of.offset && placed.at(-1)?.row.block === row.block
    const lastUnit = placed.at(-1)?.unit ?? id
    const unit = row.useId === undefined ? (isSame ? lastUnit : id) : (units.get(row.useId) ?? id)
    if (row.useId !== undefined) units.set(row.useId, unit)
    const { at, offset, length, entry } = of
    if (isTalk(row)) {
      const text = withoutLabel(row.words.body)
      const goesOn = isSame && open !== undefined
      if (!goesOn) {
        first ??= text
        for (const place of open?.places ?? []) setAfter(placed, place, text)
      }
      const own = { offset, length, block: row.block, said }
      open = {
        ...own,
        ids: [...(goesOn ? (open?.ids ?? []) : []), id],
        places: [...(goesOn ? (open?.places ?? []) : []), placed.length],
      }
    }
    placed.push({ id, file: known.id, entry: entry?.id ?? '', at, offset, length, row, unit })
    id++
  }
  const still = open
    ? { ids: open.ids, offset: open.offset, length: open.length, block: open.block, said: open.said }
    : undefined
  const state = { ...context, units: unitsOf(units, context), open: still ?? known.state.open }
  return { placed, state, after: first }
}

function isTalk({ kind, useId, block }: IndexRow): boolean {
  return (kind === 'user' || kind === 'assistant') && useId === undefined && block >= 0
}

function setAfter(placed: PlacedRow[], place: number, after: string): void {
  const one = placed[place]
  if (one) placed[place] = { ...one, row: { ...one.row, words: { ...one.row.words, after } } }
}

/** For calls without a result yet. */
function unitsOf(
  units: ReadonlyMap<string, number>,
  { calls }: RowContext,
): { readonly [useId: string]: number } {
  return Object.fromEntries(
    Object.keys(calls).flatMap((id) => (units.has(id) ? [[id, units.get(id) ?? 0]] : [])),
  )
}

/** Writes the turn again, with the text that followed it. */
function reopenTurn(db: IndexDatabase, handle: FileHandle, open: OpenTurn, after: string): void {
  const { offset, length, block, said, ids } = open
  const [document] = decodeWholeLine(readAt(handle, offset, offset + length)).entries
  if (!document || partsAt(document.entry, block).length === 0) return
  const { rows } = rowsOfEntry(document.entry, { ...NO_CONTEXT, said })
  const own = rows.filter((row) => row.block === block)
  for (const [i, id] of ids.entries()) {
    const row = own[i]
    if (!row) continue
    db.run(`DELETE FROM ${shardName(shardOf(id))} WHERE rowid = ?`, id)
    insertWords(db, id, { ...row.words, after })
  }
}

/** Fewer bytes if the file has become shorter. */
export function readAt(handle: FileHandle, start: number, end: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.max(0, end - start))
  let filled = 0
  while (filled < buffer.length) {
    const bytes = readSync(handle.fd, buffer, filled, buffer.length - filled, start + filled)
    if (bytes === 0) break
    filled += bytes
  }
  return buffer.subarray(0, filled)
}

function hashOf(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('base64')
}
