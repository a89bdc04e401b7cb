import { constants, lstatSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { StorageError } from '../../errors.ts'
import { openInside } from '../files/inside-home.ts'
import { hasCode } from '../files/to-storage-error.ts'
import { loadSqlite } from '../files/load-sqlite.ts'

// The file of the index. It holds words and places, never the only copy of anything: if it is damaged or has another form, it is built
// again.

export const INDEX_FILE = 'index.sqlite'
/** Files beside it while it is open. */
const SIDE_FILES = ['-wal', '-shm', '-journal']
/** Another number means another form: the file is built again. */
const VERSION = 2
/** One process writes at a time; a slice of another process takes less than this. */
const BUSY_MS = 1_000
const CACHE_KB = 32_768

export interface IndexDatabase {
  readonly path: string
  readonly run: (sql: string, ...values: SQLInputValue[]) => void
  readonly all: (sql: string, ...values: SQLInputValue[]) => readonly DatabaseRow[]
  /** Applies everything that `work` does, or nothing. */
  readonly write: <T>(work: () => T) => T
  /** False: another file is in its place, or none. */
  readonly isInPlace: () => boolean
  readonly close: () => void
}

export type DatabaseRow = { readonly [column: string]: unknown }

/** Undefined if this Node has no SQLite. Throws errors of the disk or the file. */
export async function openDatabase(home: string, folder: string): Promise<IndexDatabase | undefined> {
  const Database = loadSqlite()
  if (!Database) return undefined
  const path = join(folder, INDEX_FILE)
  for (const side of SIDE_FILES) requirePlain(`${path}${side}`)
  // We create the file, so it is ours alone, in the right place and no link.
  const handle = await openInside(home, path, constants.O_RDWR | constants.O_CREAT)
  const { ino } = await handle.stat()
  await handle.close()
  const db = new Database(path)
  try {
    prepareFile(db)
    return toIndexDatabase(db, path, ino)
  } catch (error) {
    db.close()
    throw error
  }
}

function requirePlain(path: string): void {
  try {
    if (lstatSync(path).isFile()) return
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  throw new StorageError('io', `${path} is not a file. Move it away`)
}

function prepareFile(db: DatabaseSync): void {
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
  const version = numberOf(db.prepare('PRAGMA user_version').get()?.['user_version'])
  if (version !== 0 && version !== VERSION) throw new OtherForm()
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -${CACHE_KB}; PRAGMA trusted_schema = OFF`)
  if (version === VERSION) return
  db.exec('BEGIN IMMEDIATE')
  try {
    db.exec(SCHEMA)
    db.exec(`PRAGMA user_version = ${VERSION}`)
    db.exec('COMMIT')
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS files(
  id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL, session TEXT NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL, mtime REAL NOT NULL,
  offset INTEGER NOT NULL, last_start INTEGER NOT NULL, last_hash TEXT NOT NULL, state TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS names(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, rows INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS chunks(
  id INTEGER PRIMARY KEY, file INTEGER NOT NULL, entry TEXT NOT NULL, kind TEXT NOT NULL, at REAL, who INTEGER NOT NULL, unit INTEGER NOT NULL,
  offset INTEGER NOT NULL, length INTEGER NOT NULL, block INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS chunks_by_file ON chunks(file);
CREATE INDEX IF NOT EXISTS chunks_by_entry ON chunks(entry);
-- sealed: 0 while it grows, 1 when it is full, 2 when it is one piece.
CREATE TABLE IF NOT EXISTS shards(id INTEGER PRIMARY KEY, oldest REAL, newest REAL, sealed INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS heavy(shard INTEGER NOT NULL, term TEXT NOT NULL, docs INTEGER NOT NULL, PRIMARY KEY(term, shard)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
`

/** The file has an older or newer form than ours. */
class OtherForm extends Error {
  override readonly name = 'OtherForm'
}

function toIndexDatabase(db: DatabaseSync, path: string, ino: number): IndexDatabase {
  const statements = new Map<string, StatementSync>()
  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql)
    if (known) return known
    const made = db.prepare(sql)
    statements.set(sql, made)
    return made
  }
  return {
    path,
    run: (sql, ...values) => void prepared(sql).run(...values),
    all: (sql, ...values) => prepared(sql).all(...values),
    write: (work) => {
      db.exec('BEGIN IMMEDIATE')
      try {
        const done = work()
        db.exec('COMMIT')
        return done
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK')
        throw error
      }
    },
    isInPlace: () => {
      try {
        return statSync(path).ino === ino
      } catch {
        return false
      }
    },
    close: () => {
      statements.clear()
      if (db.isOpen) db.close()
    },
  }
}

/** `only`: leaves the file alone if another process has put a new one in its place. */
export function removeIndexFile(folder: string, only?: IndexDatabase): void {
  if (only && !only.isInPlace()) return
  const path = join(folder, INDEX_FILE)
  // The file itself goes first: a process that opens it now creates a new one, and finds nothing of the old one beside it.
  for (const side of ['', ...SIDE_FILES]) {
    try {
      unlinkSync(`${path}${side}`)
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
}

/** SQLite codes that say nothing about the file: locked, no space, no permission, interrupted. */
const NOT_THE_FILE = new Set([3, 4, 5, 6, 7, 8, 9, 13, 14, 15, 17, 23])

/** Whether the error means that the file is unusable. */
export function isDamage(error: unknown): boolean {
  if (error instanceof OtherForm) return true
  const code = sqliteCode(error)
  return code !== undefined && !NOT_THE_FILE.has(code) && !isMissingModule(error)
}

const BUSY = 5

export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === BUSY
}

/** The primary result code of SQLite. */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined
}

function isMissingModule(error: unknown): boolean {
  return error instanceof Error && error.message.includes('no such module')
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
