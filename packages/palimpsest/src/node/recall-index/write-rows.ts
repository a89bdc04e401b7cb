import type { IndexRow, RowWords } from '../../recall/index-rows.ts'
import { numberOf, textOf, type IndexDatabase } from './index-database.ts'

// Rows of the index, in shards: searching one shard takes milliseconds, however large the index is.

/** A sentence of common words is searched in this many rows in about 20 ms. */
export const SHARD_ROWS = 20_000
/** When a shard is full, terms that at least this many of its rows contain are counted, so that a search can use the rarer ones. */
export const COUNTED_ROWS_MIN = 50
const COLUMNS = 'who, about, body, parts, before, after, day'

/** Where a row's text is. */
export interface RowPlace {
  readonly file: number
  readonly entry: string
  readonly at: number
  /** Byte offset of the document in the file, or of the piece in a text file. */
  readonly offset: number
  readonly length: number
}

export interface PlacedRow extends RowPlace {
  readonly id: number
  readonly row: IndexRow
  /** Id of the first row of the unit that it belongs to. */
  readonly unit: number
}

export function shardName(shard: number): string {
  return `words_${shard}`
}

export function shardOf(id: number): number {
  return Math.floor((id - 1) / SHARD_ROWS)
}

/** Ids are never reused: a deleted row stays deleted. */
export function takeIds(db: IndexDatabase, count: number): number {
  const [known] = db.all(`SELECT value FROM counters WHERE name = 'next'`)
  const next = known ? numberOf(known['value']) : 1
  db.run(`INSERT INTO counters VALUES('next', ?1) ON CONFLICT(name) DO UPDATE SET value = ?1`, next + count)
  return next
}

/** In the order of their ids. */
export function insertRows(db: IndexDatabase, rows: readonly PlacedRow[]): void {
  const names = countNames(db, rows)
  let shard: number | undefined
  for (const placed of rows) {
    const own = shardOf(placed.id)
    if (own !== shard) openShard(db, own)
    shard = own
    insertRow(db, placed, names.get(placed.row.words.who) ?? 0)
  }
  noteTimes(db, rows)
}

function insertRow(db: IndexDatabase, placed: PlacedRow, name: number): void {
  const { id, file, entry, at, offset, length, row, unit } = placed
  db.run(
    'INSERT INTO chunks VALUES(?,?,?,?,?,?,?,?,?,?,?,?)',
    ...[id, file, entry, row.kind, Number.isFinite(at) ? at : null, name, unit],
    ...[offset, length, row.block, row.from, row.to],
  )
  insertWords(db, id, row.words)
}

/** Counts speakers by name, once for all rows. */
function countNames(db: IndexDatabase, rows: readonly PlacedRow[]): ReadonlyMap<string, number> {
  const count = `INSERT INTO names(name, rows) VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET rows = rows + ?2 RETURNING id`
  const byName = Map.groupBy(rows, ({ row }) => row.words.who)
  return new Map(
    [...byName].map(([name, list]) => [name, numberOf(db.all(count, plain(name), list.length)[0]?.['id'])]),
  )
}

export function insertWords(db: IndexDatabase, id: number, words: RowWords): void {
  const { who, about, body, parts, before, after, day } = words
  db.run(
    `INSERT INTO ${shardName(shardOf(id))}(rowid, ${COLUMNS}) VALUES(?,?,?,?,?,?,?,?)`,
    ...[id, who, about, body, parts, before, after, day].map(plain),
  )
}

/** SQLite accepts no lone surrogates, and some of its readers end a text at a NUL character. */
function plain<T extends string | number>(value: T): T | string {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', ' ') : value
}

function openShard(db: IndexDatabase, shard: number): void {
  const [known] = db.all('SELECT sealed FROM shards WHERE id = ?', shard)
  if (known) return
  const [last] = db.all('SELECT id FROM shards WHERE sealed = 0 ORDER BY id DESC LIMIT 1')
  if (last) sealShard(db, numberOf(last['id']))
  const name = shardName(shard)
  // Contentless: it has words and places; the text itself stays where it is.
  db.run(
    `CREATE VIRTUAL TABLE ${name} USING fts5(${COLUMNS}, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2')`,
  )
  db.run(`INSERT INTO ${name}(${name}, rank) VALUES('hashsize', ${HASH_BYTES})`)
  db.run(`INSERT INTO ${name}(${name}, rank) VALUES('automerge', ${MERGED_AT_ONCE})`)
  db.run('INSERT INTO shards VALUES(?, NULL, NULL, 0)', shard)
}

/** Bytes gathered in memory before they are written: fewer and larger pieces are read faster. */
const HASH_BYTES = 8 << 20
/** How many pieces are merged at a time: with four, every row is rewritten twice as often. */
const MERGED_AT_ONCE = 8

/** The shard is full: notes its common words. */
function sealShard(db: IndexDatabase, shard: number): void {
  const vocabulary = `vocabulary_${shard}`
  db.run(`CREATE VIRTUAL TABLE temp.${vocabulary} USING fts5vocab(main, ${shardName(shard)}, row)`)
  db.run(
    `INSERT OR REPLACE INTO heavy SELECT ?, term, doc FROM temp.${vocabulary} WHERE doc >= ?`,
    shard,
    COUNTED_ROWS_MIN,
  )
  db.run(`DROP TABLE temp.${vocabulary}`)
  db.run('UPDATE shards SET sealed = 1 WHERE id = ?', shard)
}

/** Full shards that still have several pieces, newest first. */
export function untidyShards(db: IndexDatabase): readonly number[] {
  return db.all('SELECT id FROM shards WHERE sealed = 1 ORDER BY id DESC').map((row) => numberOf(row['id']))
}

/**
 * Merges all pieces of a full shard into one, in which a word is found at once. It takes a tenth of the time that filling the shard took.
 */
export function tidyShard(db: IndexDatabase, shard: number): void {
  const name = shardName(shard)
  db.run(`INSERT INTO ${name}(${name}) VALUES('optimize')`)
  db.run('UPDATE shards SET sealed = 2 WHERE id = ?', shard)
}

function noteTimes(db: IndexDatabase, rows: readonly PlacedRow[]): void {
  const byShard = Map.groupBy(rows, ({ id }) => shardOf(id))
  for (const [shard, list] of byShard) {
    const times = list.map(({ at }) => at).filter((at) => Number.isFinite(at))
    if (times.length === 0) continue
    const [oldest, newest] = times.reduce(
      ([low, high], at) => [Math.min(low, at), Math.max(high, at)],
      [Infinity, -Infinity],
    )
    db.run(
      'UPDATE shards SET oldest = min(ifnull(oldest, ?1), ?1), newest = max(ifnull(newest, ?2), ?2) WHERE id = ?3',
      ...[oldest, newest, shard],
    )
  }
}

/** Deletes all rows of a file, and what is known about it. */
export function forgetFile(db: IndexDatabase, file: number): void {
  const [range] = db.all('SELECT min(id) AS first, max(id) AS last FROM chunks WHERE file = ?', file)
  const [first, last] = [numberOf(range?.['first']), numberOf(range?.['last'])]
  for (let shard = shardOf(first); shard <= shardOf(last); shard++)
    db.run(
      `DELETE FROM ${shardName(shard)} WHERE rowid IN (SELECT id FROM chunks WHERE file = ? AND id BETWEEN ? AND ?)`,
      ...[file, shard * SHARD_ROWS + 1, (shard + 1) * SHARD_ROWS],
    )
  db.run('DELETE FROM chunks WHERE file = ?', file)
  db.run('DELETE FROM files WHERE id = ?', file)
}

/** A speaker with at least this many rows, and this share of all rows, is known by name. */
const SPEAKER_ROWS_MIN = 10
const SPEAKER_SHARE = 0.02

/** Speakers of talk that names them (`Caroline: …`), in lower case. Names of tools are ordinary words. */
export function speakersIn(db: IndexDatabase): ReadonlyMap<string, number> {
  const rows = db.all(
    `SELECT id, rtrim(name, ':') AS name FROM names WHERE name LIKE '%:' AND rows >= max(?, ? * (SELECT sum(rows) FROM names))`,
    SPEAKER_ROWS_MIN,
    SPEAKER_SHARE,
  )
  return new Map(rows.map((row) => [textOf(row['name']).toLowerCase(), numberOf(row['id'])]))
}
