import type { IndexDatabase } from './index-database.ts'
import { numberOf, textOf } from './index-database.ts'
import { COUNTED_ROWS_MIN, SHARD_ROWS, shardName, shardOf } from './write-rows.ts'

// Finds rows that contain the words, in every shard, newest first, within a time limit.

export interface FoundRow {
  readonly id: number
  readonly file: number
  readonly entry: string
  readonly session: string
  readonly kind: string
  /** NaN if unknown. */
  readonly at: number
  readonly who: number
  readonly unit: number
  readonly offset: number
  readonly length: number
  readonly block: number
  readonly start: number
  readonly stop: number
  /** How well the words match: higher is better. */
  readonly score: number
}

export interface ShardQuery {
  /** Rows match any of them; the more and the rarer, the better. */
  readonly terms: readonly string[]
  /** These words directly after one another. */
  readonly phrase?: string | undefined
  /** Only in what calls name: files, patterns and commands. */
  readonly isAbout?: boolean | undefined
  /** The only term may be the beginning of a word. */
  readonly isPrefix?: boolean | undefined
  readonly filter: RowFilter
  /** Per shard. */
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
  /** Nothing older than this was searched, because time ran out. Undefined: everything was. */
  readonly cutAt: number | undefined
}

/** For who, about, body, parts, before, after, day. */
const WEIGHTS = '1, 5, 1, 1, 0.5, 0.3, 1'
const OWN_COLUMNS = '{who about body parts}'
/** Up to this many shards, every word counts. With more, words that many rows contain are dropped if rarer ones remain. */
const FULL_SHARDS_MAX = 3
/** Another search in what calls name takes half as long again: with more shards that is too long for a sentence of common words. */
const ABOUT_SHARDS_MAX = 1
/** With a word that few rows contain, others add little: this many rows of all shards are ranked, in about 30 ms. */
const RARE_ROWS = 5_000
/** A query is rare if its rarest word is in at most this many rows. */
const RARE_MAX = 2_000
const ROWS_PER_SHARD_MIN = 100
/** Otherwise this many per shard. */
const ROWS_PER_SHARD = 400
/** Of all of them, only the best. */
const LARGE_ROWS_MAX = 120
/** A phrase search reads every position of each of its words. What it does not reach is found by single words. */
const PHRASE_MS = 8

export function queryShards(db: IndexDatabase, query: ShardQuery, now: () => number): ShardAnswer {
  const shards = shardsOf(db, query.filter)
  const isLarge = shards.length > FULL_SHARDS_MAX
  if (shards.length > ABOUT_SHARDS_MAX && query.isAbout === true) return { rows: [], cutAt: undefined }
  if (isLarge && query.isPrefix === true) {
    // A whole word is found much faster than all words that begin with it.
    const whole = queryShards(db, { ...query, isPrefix: false }, now)
    if (whole.rows.length > 0 || whole.cutAt !== undefined) return whole
  }
  const until = isLarge && query.phrase !== undefined ? Math.min(query.until, now() + PHRASE_MS) : query.until
  // A phrase is searched exactly as it is, without dropping words.
  const counts = isLarge && query.phrase === undefined ? countsOf(db, query.terms) : NO_COUNTS
  const ranked = rankedPerShard(shards, query.terms, counts)
  // No shard contributes more of the best rows than there are in total.
  const rowsMax = isLarge ? Math.min(query.rowsMax, LARGE_ROWS_MAX) : query.rowsMax
  let isNarrowed = false
  const search = (mayNarrow: boolean): { readonly found: readonly FoundId[]; readonly cutAt?: number } => {
    const found: FoundId[] = []
    for (const [i, { id, newest, sealed }] of shards.entries()) {
      // The newest shard is always searched: on a busy machine, time may be up before the search begins.
      if (i > 0 && now() > until) return { found, cutAt: newest }
      const wanted =
        isLarge && sealed ? rarerTerms(query.terms, counts.get(id), ranked, mayNarrow) : anyOf(query.terms)
      isNarrowed ||= wanted.isEach
      const match = matchOf({ ...query, ...wanted })
      const isRanked = !isLarge || query.phrase === undefined
      if (match !== undefined)
        found.push(...queryShard(db, { shard: id, match, isRanked }, { ...query, rowsMax }))
    }
    return { found }
  }
  const first = search(query.phrase === undefined)
  const isInVain = isNarrowed && first.found.length === 0 && first.cutAt === undefined
  const { found, cutAt } = isInVain ? search(false) : first
  const best = isLarge ? found.toSorted((x, y) => y.score - x.score).slice(0, LARGE_ROWS_MAX) : found
  return { rows: rowsAt(db, best), cutAt }
}

interface Shard {
  readonly id: number
  readonly newest: number
  readonly sealed: boolean
}

/** Newest first. */
function shardsOf(db: IndexDatabase, { session, since, until }: RowFilter): readonly Shard[] {
  const [range] =
    session === undefined
      ? []
      : db.all(
          'SELECT min(chunks.id) AS first, max(chunks.id) AS last FROM files JOIN chunks ON chunks.file = files.id WHERE session = ?',
          session,
        )
  const rows = db.all(
    `SELECT * FROM shards WHERE (newest IS NULL OR newest >= ?) AND (oldest IS NULL OR oldest <= ?) AND id BETWEEN ? AND ?
    ORDER BY id DESC`,
    since ?? -Number.MAX_VALUE,
    until ?? Number.MAX_VALUE,
    range ? shardOf(numberOf(range['first'] ?? 1)) : 0,
    range ? shardOf(numberOf(range['last'] ?? 0)) : Number.MAX_SAFE_INTEGER,
  )
  return rows.map((row) => ({
    id: numberOf(row['id']),
    newest: numberOf(row['newest']),
    sealed: numberOf(row['sealed']) > 0,
  }))
}

/** Per shard and per term that many of its rows contain: the number of rows. */
type Counts = ReadonlyMap<number, ReadonlyMap<string, number>>
const NO_COUNTS: Counts = new Map()

function countsOf(db: IndexDatabase, terms: readonly string[]): Counts {
  const stems = stemsOf(db, terms)
  const counts = new Map<number, Map<string, number>>()
  for (const term of terms)
    for (const row of db.all('SELECT shard, docs FROM heavy WHERE term = ?', stems.get(term) ?? term)) {
      const shard = numberOf(row['shard'])
      const known = counts.get(shard) ?? new Map<string, number>()
      counts.set(shard, known.set(term, numberOf(row['docs'])))
    }
  return counts
}

function rankedPerShard(shards: readonly Shard[], terms: readonly string[], counts: Counts): number {
  const totals = terms.map((term) =>
    shards.reduce((sum, { id }) => sum + (counts.get(id)?.get(term) ?? 0), 0),
  )
  // A term that no shard counted may be in up to fifty rows of each.
  const isRare = Math.min(...totals) <= RARE_MAX
  return isRare ? Math.max(ROWS_PER_SHARD_MIN, Math.floor(RARE_ROWS / shards.length)) : ROWS_PER_SHARD
}

interface Terms {
  readonly terms: readonly string[]
  /** A row must contain all of them. */
  readonly isEach: boolean
}

/** The rarest terms, as many as match no more rows than may be ranked. If even the rarest one matches more, the two rarest combined. */
function rarerTerms(
  terms: readonly string[],
  counts: ReadonlyMap<string, number> | undefined,
  rowsMax: number,
  mayNarrow: boolean,
): Terms {
  if (!counts) return anyOf(terms)
  const rowsOf = (term: string): number => counts.get(term) ?? COUNTED_ROWS_MIN
  const sorted = terms.toSorted((x, y) => rowsOf(x) - rowsOf(y))
  const [rarest, second] = sorted
  if (mayNarrow && rarest !== undefined && second !== undefined && rowsOf(rarest) > rowsMax)
    return { terms: [rarest, second], isEach: true }
  let rows = 0
  const fitting = sorted.filter((term, i) => {
    rows += rowsOf(term)
    return i === 0 || rows <= rowsMax
  })
  return anyOf(fitting)
}

function anyOf(terms: readonly string[]): Terms {
  return { terms, isEach: false }
}

/** Asks the index's own tokenizer, instead of imitating it. */
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

/** In the query language of the index, with everything quoted. */
function matchOf({
  terms,
  isEach,
  phrase,
  isAbout,
  isPrefix,
  filter,
}: ShardQuery & Terms): string | undefined {
  const words = terms.map((term, i) => `${quoted(term)}${isPrefix === true && i === 0 ? '*' : ''}`)
  // A single word must be in the row itself; several words also match what the turns beside it are about.
  const alone =
    words.length === 1 ? `${OWN_COLUMNS} : ${words[0] ?? ''}` : words.join(isEach ? ' AND ' : ' OR ')
  const where = isAbout === true ? `about : (${words.join(' OR ')})` : alone
  const any = phrase === undefined ? where : `body : ${quoted(phrase)}`
  const file = filter.file === undefined ? '' : `about : ${quoted(filter.file)}`
  if (any === '') return file === '' ? undefined : file
  return file === '' ? any : `(${any}) AND ${file}`
}

function quoted(text: string): string {
  return `"${text.toWellFormed().replaceAll('\0', ' ').replaceAll('"', '""')}"`
}

interface FoundId {
  readonly id: number
  readonly score: number
}

interface ShardWish {
  readonly shard: number
  readonly match: string
  /** False: newest first, since ranking means counting every word in every row. */
  readonly isRanked: boolean
}

function queryShard(
  db: IndexDatabase,
  { shard, match, isRanked }: ShardWish,
  query: ShardQuery,
): readonly FoundId[] {
  const name = shardName(shard)
  const { session, since, until } = query.filter
  const isFiltered = session !== undefined || since !== undefined || until !== undefined
  const where = isFiltered
    ? `AND rowid IN (SELECT chunks.id FROM chunks JOIN files ON files.id = chunks.file WHERE chunks.id BETWEEN ?3 AND ?4
       AND (?5 IS NULL OR files.session = ?5) AND (?6 IS NULL OR chunks.at >= ?6) AND (?7 IS NULL OR chunks.at <= ?7))`
    : ''
  const [score, order] = isRanked ? [`bm25(${name}, ${WEIGHTS})`, 'score'] : ['0.0', 'rowid DESC']
  const sql = `SELECT rowid AS id, ${score} AS score FROM ${name} WHERE ${name} MATCH ?1 ${where} ORDER BY ${order} LIMIT ?2`
  const filters = isFiltered
    ? [shard * SHARD_ROWS + 1, (shard + 1) * SHARD_ROWS, session ?? null, since ?? null, until ?? null]
    : []
  return db
    .all(sql, match, query.rowsMax, ...filters)
    .map((row) => ({ id: numberOf(row['id']), score: -numberOf(row['score']) }))
}

const ROWS_AT = `SELECT chunks.*, files.session AS session, wanted.key AS place FROM json_each(?) AS wanted
  CROSS JOIN chunks ON chunks.id = wanted.value JOIN files ON files.id = chunks.file`

/** In the order of the ids. */
function rowsAt(db: IndexDatabase, ids: readonly FoundId[]): readonly FoundRow[] {
  const rows = db.all(ROWS_AT, JSON.stringify(ids.map(({ id }) => id)))
  return rows
    .toSorted((a, b) => numberOf(a['place']) - numberOf(b['place']))
    .map((row) => ({ ...toFoundRow(row), score: ids[numberOf(row['place'])]?.score ?? 0 }))
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

/** What passes the filter, newest first, one row per unit. */
export function newestRows(
  db: IndexDatabase,
  filter: RowFilter,
  { limit, until: end }: { readonly limit: number; readonly until: number },
): ShardAnswer {
  const { session, file, since, until } = filter
  if (file !== undefined) {
    const wish = { terms: [], filter, rowsMax: SHARD_ROWS, until: end }
    const found = queryShards(db, wish, () => performance.now())
    const units = [...Map.groupBy(found.rows, ({ unit }) => unit).values()].flatMap((rows) => {
      // For a call and its result: where the result begins.
      return rows.toSorted((x, y) => y.offset - x.offset || x.start - y.start).slice(0, 1)
    })
    return { rows: units.toSorted((x, y) => y.id - x.id).slice(0, limit), cutAt: found.cutAt }
  }
  const shards = shardsOf(db, filter)
  const sql = `SELECT chunks.*, files.session AS session, -1.0 AS score FROM chunks JOIN files ON files.id = chunks.file
    WHERE chunks.id BETWEEN ?5 AND ?6 AND chunks.start = 0 AND (?1 IS NULL OR files.session = ?1)
    AND (?2 IS NULL OR chunks.at >= ?2) AND (?3 IS NULL OR chunks.at <= ?3) ORDER BY chunks.id DESC LIMIT ?4`
  const first = (shards.at(-1)?.id ?? 0) * SHARD_ROWS + 1
  const last = ((shards[0]?.id ?? -1) + 1) * SHARD_ROWS
  const values = [session ?? null, since ?? null, until ?? null, limit, first, last]
  return { rows: db.all(sql, ...values).map(toFoundRow), cutAt: undefined }
}
