import type { IndexDatabase } from './index-database.ts'
import { numberOf, textOf } from './index-database.ts'
import { SHARD_ROWS, shardName } from './write-rows.ts'

// Rows that hold the words, of every shard, the newest first, within a time.

export interface FoundRow {
  readonly id: number
  readonly file: number
  readonly entry: string
  readonly session: string
  readonly kind: string
  /** NaN where it is not known. */
  readonly at: number
  readonly who: number
  readonly unit: number
  readonly offset: number
  readonly length: number
  readonly block: number
  readonly start: number
  readonly stop: number
  /** How well the words fit: more is better. */
  readonly score: number
}

export interface ShardQuery {
  /** Any of them; the more and the rarer, the better. */
  readonly terms: readonly string[]
  /** The words in a row, as they stand. */
  readonly phrase?: string | undefined
  /** The only term may be the beginning of a word. */
  readonly isPrefix?: boolean | undefined
  readonly filter: RowFilter
  /** Of each shard. */
  readonly rowsMax: number
  readonly until: number
}

export interface RowFilter {
  readonly session?: string | undefined
  /** A file that a call named, or the end of its path. */
  readonly file?: string | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
}

export interface ShardAnswer {
  readonly rows: readonly FoundRow[]
  /** What is older was not searched: the time was over. */
  readonly cutAt: number | undefined
}

/** Of who, about, body, parts, before, after, day. */
const WEIGHTS = '1, 5, 1, 1, 0.5, 0.3, 1'
const OWN_COLUMNS = '{who about body parts}'
/** Up to so many rows every word counts. In more, words that are everywhere are left out where others are left. */
const FULL_ROWS_MAX = 3 * SHARD_ROWS

export function queryShards(db: IndexDatabase, query: ShardQuery, now: () => number): ShardAnswer {
  const shards = shardsOf(db, query.filter)
  const isLarge = shards.length * SHARD_ROWS > FULL_ROWS_MAX
  const stems = isLarge ? stemsOf(db, query.terms) : new Map<string, string>()
  const rows: FoundRow[] = []
  for (const { id, newest, sealed } of shards) {
    if (now() > query.until) return { rows, cutAt: newest }
    const terms = isLarge && sealed ? lightTerms(db, id, query.terms, stems) : query.terms
    const match = matchOf({ ...query, terms })
    if (match !== undefined) rows.push(...queryShard(db, id, match, query))
  }
  return { rows, cutAt: undefined }
}

interface Shard {
  readonly id: number
  readonly newest: number
  readonly sealed: boolean
}

function shardsOf(db: IndexDatabase, { since, until }: RowFilter): readonly Shard[] {
  const rows = db.all(
    'SELECT * FROM shards WHERE (newest IS NULL OR newest >= ?) AND (oldest IS NULL OR oldest <= ?) ORDER BY id DESC',
    since ?? -Number.MAX_VALUE,
    until ?? Number.MAX_VALUE,
  )
  return rows.map((row) => ({
    id: numberOf(row['id']),
    newest: numberOf(row['newest']),
    sealed: numberOf(row['sealed']) === 1,
  }))
}

function lightTerms(
  db: IndexDatabase,
  shard: number,
  terms: readonly string[],
  stems: ReadonlyMap<string, string>,
): readonly string[] {
  const light = terms.filter((term) => {
    const found = db.all(
      'SELECT docs FROM heavy WHERE term = ? AND shard = ?',
      stems.get(term) ?? term,
      shard,
    )
    return found.length === 0
  })
  return light.length > 0 ? light : terms
}

/** As the tokenizer of the index makes them: it is asked, not imitated. */
function stemsOf(db: IndexDatabase, terms: readonly string[]): ReadonlyMap<string, string> {
  db.run(
    `CREATE VIRTUAL TABLE IF NOT EXISTS temp.stems USING fts5(term, tokenize='porter unicode61 remove_diacritics 2')`,
  )
  db.run(`CREATE VIRTUAL TABLE IF NOT EXISTS temp.stem_terms USING fts5vocab(temp, stems, instance)`)
  db.run('DELETE FROM temp.stems')
  for (const [i, term] of terms.entries())
    db.run('INSERT INTO temp.stems(rowid, term) VALUES(?, ?)', i + 1, term)
  const rows = db.all('SELECT doc, term FROM temp.stem_terms')
  return new Map(rows.map((row) => [terms[numberOf(row['doc']) - 1] ?? '', textOf(row['term'])]))
}

/** In the language of the index, in which everything is quoted. */
function matchOf({ terms, phrase, isPrefix, filter }: ShardQuery): string | undefined {
  const words = terms.map((term, i) => `${quoted(term)}${isPrefix === true && i === 0 ? '*' : ''}`)
  // One word is looked for where it stands; more of them are also what the turns beside it are about.
  const alone = words.length === 1 ? `${OWN_COLUMNS} : ${words[0] ?? ''}` : words.join(' OR ')
  const any = phrase === undefined ? alone : `body : ${quoted(phrase)}`
  const file = filter.file === undefined ? '' : `about : ${quoted(filter.file)}`
  if (any === '') return file === '' ? undefined : file
  return file === '' ? any : `(${any}) AND ${file}`
}

function quoted(text: string): string {
  return `"${text.toWellFormed().replaceAll('\0', ' ').replaceAll('"', '""')}"`
}

function queryShard(db: IndexDatabase, shard: number, match: string, query: ShardQuery): readonly FoundRow[] {
  const name = shardName(shard)
  const rank = `bm25(${name}, ${WEIGHTS})`
  const { session, since, until } = query.filter
  const isFiltered = session !== undefined || since !== undefined || until !== undefined
  const where = isFiltered
    ? `AND rowid IN (SELECT chunks.id FROM chunks JOIN files ON files.id = chunks.file WHERE chunks.id BETWEEN ?3 AND ?4
       AND (?5 IS NULL OR files.session = ?5) AND (?6 IS NULL OR chunks.at >= ?6) AND (?7 IS NULL OR chunks.at <= ?7))`
    : ''
  const sql = `SELECT chunks.*, files.session AS session, score FROM
    (SELECT rowid AS row, ${rank} AS score FROM ${name} WHERE ${name} MATCH ?1 ${where} ORDER BY score LIMIT ?2)
    JOIN chunks ON chunks.id = row JOIN files ON files.id = chunks.file`
  const values = [match, query.rowsMax]
  const filters = isFiltered
    ? [shard * SHARD_ROWS + 1, (shard + 1) * SHARD_ROWS, session ?? null, since ?? null, until ?? null]
    : []
  return db.all(sql, ...values, ...filters).map(toFoundRow)
}

function toFoundRow(row: { readonly [column: string]: unknown }): FoundRow {
  const value = (name: string): number => numberOf(row[name])
  return {
    ...{ id: value('id'), file: value('file'), entry: textOf(row['entry']), session: textOf(row['session']) },
    ...{ kind: textOf(row['kind']), at: value('at'), who: value('who'), unit: value('unit') },
    ...{ offset: value('offset'), length: value('length'), block: value('block') },
    ...{ start: value('start'), stop: value('stop'), score: -value('score') },
  }
}

/** What the filter lets pass, the newest first, one row of each unit. */
export function newestRows(db: IndexDatabase, filter: RowFilter, limit: number): readonly FoundRow[] {
  const { session, file, since, until } = filter
  if (file !== undefined) {
    const found = queryShards(db, { terms: [], filter, rowsMax: SHARD_ROWS, until: Infinity }, () => 0).rows
    const units = [...Map.groupBy(found, ({ unit }) => unit).values()].flatMap((rows) => {
      // Of a call and its result, where the result begins.
      return rows.toSorted((x, y) => y.offset - x.offset || x.start - y.start).slice(0, 1)
    })
    return units.toSorted((x, y) => y.id - x.id).slice(0, limit)
  }
  const sql = `SELECT chunks.*, files.session AS session, -1.0 AS score FROM chunks JOIN files ON files.id = chunks.file
    WHERE chunks.start = 0 AND (?1 IS NULL OR files.session = ?1) AND (?2 IS NULL OR chunks.at >= ?2) AND (?3 IS NULL OR chunks.at <= ?3)
    ORDER BY chunks.id DESC LIMIT ?4`
  return db.all(sql, session ?? null, since ?? null, until ?? null, limit).map(toFoundRow)
}
