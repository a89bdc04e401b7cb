import { constants } from 'node:fs'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { StorageError } from '../../errors.ts'
import { openInside } from '../files/inside-home.ts'
import { storedFiles, type StoredFile } from '../transcripts/stored-files.ts'
import { numberOf, textOf, type IndexDatabase } from './index-database.ts'
import { findIndexed, indexSlice, stillHolds, type IndexedFile } from './index-file.ts'
import { forgetFile, tidyShard, untidyShards } from './write-rows.ts'

// The index follows the files: deleted ones are forgotten, overwritten ones are read again, grown ones are read from where the index ends.

export interface UpdateWish {
  readonly home: string
  readonly folder: string
  readonly memories?: readonly string[] | undefined
  /** Bytes of a file per transaction. Small ones let others in sooner, large ones are faster. */
  readonly sliceBytes: number
  /** Pause after a slice, as a multiple of the slice's duration: for work beside others. */
  readonly rests?: number | undefined
  readonly onProblem: (text: string) => void
}

/** Oldest first, so that the newest rows are together at the end. False: it was interrupted. */
export async function updateIndex(
  db: IndexDatabase,
  wish: UpdateWish,
  signal: AbortSignal,
): Promise<boolean> {
  const files = await storedFiles(wish)
  forgetMissing(db, files)
  for (const file of files.toReversed()) {
    if (isUnchanged(findIndexed(db, file.id), file)) continue
    try {
      if (!(await indexWhole(db, file, wish, signal))) return false
    } catch (error) {
      // An unreadable file does not keep the others from being indexed.
      if (!(error instanceof StorageError)) throw error
      wish.onProblem(error.message)
    }
  }
  return true
}

function forgetMissing(db: IndexDatabase, files: readonly StoredFile[]): void {
  const there = new Set(files.map(({ id }) => id))
  for (const row of db.all('SELECT id, path FROM files'))
    if (!there.has(textOf(row['path']))) db.write(() => forgetFile(db, numberOf(row['id'])))
}

export function isUnchanged(known: IndexedFile | undefined, { ino, size, mtime }: StoredFile): boolean {
  return (
    known !== undefined &&
    known.ino === ino &&
    known.size === size &&
    known.mtime === mtime &&
    known.offset === size
  )
}

async function indexWhole(
  db: IndexDatabase,
  file: StoredFile,
  { home, sliceBytes, rests = 0 }: UpdateWish,
  signal: AbortSignal,
): Promise<boolean> {
  const handle = await openInside(home, file.path, constants.O_RDONLY)
  try {
    const known = findIndexed(db, file.id)
    if (known && !stillHolds(handle, known, file)) db.write(() => forgetFile(db, known.id))
    for (let isMore = true; isMore;) {
      if (signal.aborted || !db.isInPlace()) return false
      const begun = performance.now()
      isMore = db.write(() => indexSlice({ db, handle, file, bytesMax: sliceBytes }))
      // Lets others that wait for this thread, or this machine, go first.
      await (rests > 0 ? setTimeout((performance.now() - begun) * rests) : setImmediate())
    }
    return true
  } finally {
    await handle.close()
  }
}

/** For idle time: merges each full shard into a single piece. */
export async function tidyIndex(
  db: IndexDatabase,
  { rests = 0 }: UpdateWish,
  signal: AbortSignal,
): Promise<void> {
  for (const shard of untidyShards(db)) {
    if (signal.aborted || !db.isInPlace()) return
    const begun = performance.now()
    db.write(() => tidyShard(db, shard))
    await setTimeout((performance.now() - begun) * rests)
  }
}

/** How much of a file is in the index, in bytes. Undefined: all of it. */
export function createStartOf(db: IndexDatabase): (file: StoredFile) => number | undefined {
  const rows = db.all('SELECT path, ino, size, mtime, offset FROM files')
  const known = new Map(
    rows.map((row) => {
      const value = (name: string): number => numberOf(row[name])
      const at = { ino: value('ino'), size: value('size'), mtime: value('mtime'), offset: value('offset') }
      return [textOf(row['path']), at]
    }),
  )
  return (file) => {
    const indexed = known.get(file.id)
    if (!indexed) return 0
    const grew = indexed.ino === file.ino && file.size > indexed.size && indexed.offset > 0
    if (grew) return indexed.offset
    if (indexed.ino !== file.ino || indexed.size !== file.size || indexed.mtime !== file.mtime) return 0
    return indexed.offset < file.size ? indexed.offset : undefined
  }
}
