import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from '../../errors.ts'
import { partsAt } from '../../recall/index-rows.ts'
import { createInsideOpener } from '../files/inside-home.ts'
import { decodeWholeLine, readBytes, textBeside } from '../transcripts/file-lines.ts'
import { BESIDE, WHOLE_PIECE } from './index-file.ts'
import { textOf, type IndexDatabase } from './index-database.ts'
import type { FoundRow } from './query-shards.ts'

// The text of a row, from its file: a quote is what the file contains now, otherwise there is none.

export interface RowReader {
  /** The texts of each row, with some lines around them. None if the file has changed meanwhile. */
  readonly read: (rows: readonly FoundRow[]) => Promise<ReadonlyMap<FoundRow, readonly string[]>>
  /** Path of a row's file below the project's folder. */
  readonly pathOf: (row: FoundRow) => string
  readonly close: () => Promise<void>
}

/** Characters before and after a row's text that are included, since quotes have lines around them. */
const AROUND_CHARS = 400

export function createRowReader(db: IndexDatabase, home: string, folder: string): RowReader {
  const opener = createInsideOpener(home)
  const handles = new Map<number, Promise<FileHandle | undefined>>()
  // Rows of one result share a document.
  const documents = new Map<string, Promise<Buffer | undefined>>()
  const pathOf = ({ file }: FoundRow): string =>
    textOf(db.all('SELECT path FROM files WHERE id = ?', file)[0]?.['path'])
  const handleOf = (row: FoundRow): Promise<FileHandle | undefined> => {
    const known = handles.get(row.file)
    if (known) return known
    const path = join(folder, pathOf(row))
    const handle = opener.open(path).catch((error: unknown) => {
      if (error instanceof StorageError) return undefined
      throw error
    })
    handles.set(row.file, handle)
    return handle
  }
  const bytesOf = (row: FoundRow): Promise<Buffer | undefined> => {
    const key = `${row.file}:${row.offset}`
    const known = documents.get(key)
    if (known) return known
    const bytes = handleOf(row).then(
      (handle) => handle && readBytes(handle, row.offset, row.offset + row.length),
    )
    documents.set(key, bytes)
    return bytes
  }
  return {
    pathOf,
    read: async (rows) => {
      // In parallel: one after the other, each would have to wait its turn on a busy machine.
      const read = await Promise.all(rows.map(async (row) => [row, await bytesOf(row)] as const))
      if (!(await opener.isStillInside())) return new Map()
      return new Map(read.map(([row, bytes]) => [row, bytes ? textsAt(bytes, row) : []]))
    },
    close: async () => {
      for (const handle of handles.values()) await (await handle.catch(() => undefined))?.close()
    },
  }
}

function textsAt(bytes: Buffer, row: FoundRow): readonly string[] {
  if (bytes.length < row.length) return []
  if (row.block === WHOLE_PIECE) return [around(bytes.toString('utf8'), row)]
  const { entries } = decodeWholeLine(bytes)
  if (row.block === BESIDE) return [around(textBeside(bytes, entries), row)]
  const entry = entries[0]?.entry
  if (entry?.id !== row.entry) return []
  const parts = partsAt(entry, row.block).map(({ text }) => text)
  return partsIn(parts, row)
}

/** A row's range counts across the parts joined by line ends; a quote never spans two parts. */
function partsIn(parts: readonly string[], { start, stop }: FoundRow): readonly string[] {
  const found: string[] = []
  let at = 0
  for (const part of parts) {
    const [from, to] = [Math.max(0, start - at), Math.min(part.length, stop - at)]
    if (from < to) found.push(around(part, { start: from, stop: to }))
    at += part.length + 1
  }
  return found
}

/** Cut at line ends. */
function around(text: string, { start, stop }: { readonly start: number; readonly stop: number }): string {
  const from = text.indexOf('\n', Math.max(0, start - AROUND_CHARS))
  const to = text.lastIndexOf('\n', stop + AROUND_CHARS)
  const first = start <= AROUND_CHARS ? 0 : from !== -1 && from < start ? from + 1 : start
  const last = stop + AROUND_CHARS >= text.length ? text.length : to > stop ? to : stop
  return text.slice(first, last)
}
