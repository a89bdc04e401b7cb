import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { readPlainText } from 'palimpsest/node'

// Where opencode keeps sessions: a database since 1.2, before that a tree of small files. Either is turned into what opencode's own export
// would say, and read as that.

/** One session of a store. */
export interface OpencodeSession {
  /** The database, or the folder `storage`. */
  readonly store: string
  readonly id: string
}

export interface ListedSession extends OpencodeSession {
  readonly changedAt: number
  /** Approximate size of the text. */
  readonly bytes: number
}

const DATABASE = 'opencode.db'

/**
 * Main sessions in opencode's data folder, without those of sub-agents, which have a parent. When opencode moves files into the database,
 * it keeps the files: a session in both counts once. If one store cannot be read, the other still is.
 */
export async function listOpencode(folder: string): Promise<ListedSession[]> {
  const database = join(folder, DATABASE)
  const storage = join(folder, 'storage')
  const newer = (await isThere(database)) ? await listDatabase(database).catch(() => []) : []
  const older = (await isThere(join(storage, 'session'))) ? await listTree(storage).catch(() => []) : []
  const taken = new Set(newer.map(({ id }) => id))
  return [...newer, ...older.filter(({ id }) => !taken.has(id))]
}

/** The session as one export document. */
export async function exportOpencode({ store, id }: OpencodeSession): Promise<string> {
  const isDatabase = basename(store) === DATABASE
  const messages = isDatabase ? await messagesOfDatabase(store, id) : await messagesOfTree(store, id)
  return JSON.stringify({ info: { id }, messages })
}

interface ExportedMessage {
  readonly info: unknown
  readonly parts: readonly unknown[]
}

async function listDatabase(store: string): Promise<ListedSession[]> {
  const rows = await query(
    store,
    `SELECT s.id AS id, s.time_updated AS at, (SELECT SUM(LENGTH(p.data)) FROM part p WHERE p.session_id = s.id) AS bytes
     FROM session s WHERE s.parent_id IS NULL`,
  )
  return rows.map(({ id, at, bytes }) => ({
    store,
    id: String(id),
    changedAt: Number(at),
    bytes: Number(bytes ?? 0),
  }))
}

async function messagesOfDatabase(store: string, session: string): Promise<ExportedMessage[]> {
  const order = 'WHERE session_id = ? ORDER BY time_created, id'
  const messages = await query(store, `SELECT id, data FROM message ${order}`, session)
  const parts = await query(store, `SELECT message_id AS message, data FROM part ${order}`, session)
  const byMessage = Map.groupBy(parts, ({ message }) => String(message))
  return messages.map(({ id, data }) => ({
    info: withId(parsed(data), String(id)),
    parts: (byMessage.get(String(id)) ?? []).map((part) => parsed(part['data'])),
  }))
}

type SqlRow = { readonly [column: string]: unknown }

/** Opens the database read-only: opencode may be running. */
async function query(store: string, sql: string, ...values: string[]): Promise<SqlRow[]> {
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(store, { readOnly: true })
  try {
    return database.prepare(sql).all(...values)
  } finally {
    database.close()
  }
}

async function listTree(storage: string): Promise<ListedSession[]> {
  const found: ListedSession[] = []
  const files = await readdir(join(storage, 'session'), { recursive: true, withFileTypes: true })
  for (const file of files) {
    if (!file.isFile() || !file.name.endsWith('.json')) continue
    const path = join(file.parentPath, file.name)
    const info = parsed(await readPlainText(path))
    if (typeof info !== 'object' || info === null || 'parentID' in info) continue
    const id = basename(file.name, '.json')
    const messages = await namesIn(join(storage, 'message', id))
    const changed = await Promise.all([path, join(storage, 'message', id)].map(changedAt))
    found.push({
      store: storage,
      id,
      changedAt: Math.max(...changed),
      bytes: messages.length * MESSAGE_BYTES,
    })
  }
  return found
}

/** A guess, only for the order of reading: measuring each part would be slow. */
const MESSAGE_BYTES = 8_000

/** Names of messages and parts begin with the time when they were made. */
async function messagesOfTree(storage: string, session: string): Promise<ExportedMessage[]> {
  const folder = join(storage, 'message', session)
  const messages: ExportedMessage[] = []
  for (const name of await namesIn(folder)) {
    const id = basename(name, '.json')
    const partFolder = join(storage, 'part', id)
    const parts: unknown[] = []
    for (const part of await namesIn(partFolder))
      parts.push(parsed(await readPlainText(join(partFolder, part))))
    messages.push({ info: withId(parsed(await readPlainText(join(folder, name))), id), parts })
  }
  return messages
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => name.endsWith('.json')).toSorted()
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}

async function changedAt(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.mtimeMs ?? 0
}

/** An unreadable part becomes null, and the reader of exports reports it. */
function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return null
  }
}

function withId(info: unknown, id: string): unknown {
  return typeof info === 'object' && info !== null ? { id, ...info } : info
}
