import { constants } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { StorageError } from '../../errors.ts'
import type { Arbiter, Holder } from '../../ports.ts'
import { openInside } from '../files/inside-home.ts'
import { loadSqlite } from '../files/load-sqlite.ts'
import { parseHolder, printHolder } from './holder-text.ts'

// Who holds what only one process may have, in `state.sqlite`. A transaction that begins as a writer decides: the second process finds the
// row.

const STATE_FILE = 'state.sqlite'
/** Reading and taking a row takes microseconds, so hundreds of processes may wait in line. */
const BUSY_MS = 10_000

/** SQLite's error code for a full disk. */
const SQLITE_FULL = 13

/** Opens the file for each call, so that no process blocks it for others. */
export function createStateArbiter(home: string): Arbiter {
  const use = async <T>(work: (db: DatabaseSync) => T): Promise<T> => {
    const db = await openState(home)
    try {
      return work(db)
    } catch (error) {
      throw toFailure(error, home)
    } finally {
      db.close()
    }
  }
  return {
    find: async (name) => await use((db) => findHolder(db, name)),
    take: async (name, holder, over) =>
      await use((db) =>
        atOnce(db, () => {
          const has = findHolder(db, name)
          if (has !== undefined && has.token !== over) return false
          db.prepare('INSERT OR REPLACE INTO holders(name, token, holder) VALUES (?, ?, ?)').run(
            name,
            holder.token,
            printHolder(holder),
          )
          return true
        }),
      ),
    release: async (name, token) =>
      await use((db) => void db.prepare('DELETE FROM holders WHERE name = ? AND token = ?').run(name, token)),
  }
}

async function openState(home: string): Promise<DatabaseSync> {
  const Database = loadSqlite()
  if (!Database)
    throw new StorageError('io', 'this Node has no SQLite, which decides who consolidates memory')
  const path = join(home, STATE_FILE)
  // We create the file, so it is ours alone and no link.
  const handle = await openInside(home, path, constants.O_RDWR | constants.O_CREAT)
  await handle.close()
  let db: DatabaseSync | undefined
  try {
    db = new Database(path)
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    db.exec(
      'CREATE TABLE IF NOT EXISTS holders(name TEXT PRIMARY KEY, token TEXT NOT NULL, holder TEXT NOT NULL)',
    )
    return db
  } catch (error) {
    db?.close()
    throw toFailure(error, home)
  }
}

function findHolder(db: DatabaseSync, name: string): Holder | undefined {
  const row = db.prepare('SELECT holder FROM holders WHERE name = ?').get(name)
  return typeof row?.['holder'] === 'string' ? parseHolder(row['holder']) : undefined
}

function atOnce<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const done = work()
    db.exec('COMMIT')
    return done
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function toFailure(error: unknown, home: string): unknown {
  if (error instanceof StorageError || !(error instanceof Error)) return error
  const path = join(home, STATE_FILE)
  const full = `no room is left on the disk for ${path}. Free some space and try again`
  if ('errcode' in error && error.errcode === SQLITE_FULL)
    return new StorageError('disk-full', full, { cause: error })
  return new StorageError('io', `cannot use ${path}: ${error.message}. You may delete it`, { cause: error })
}
