import type { EntryId } from '../../transcript/entry.ts'
import type { RecallHit } from '../../recall/best-hits.ts'
import { ALL_WORDS, findQuotes, type Quote } from '../../recall/find-quotes.ts'
import type { ContextQuery } from '../../recall/context-of.ts'
import { toQuery, type RecallQuery } from '../../recall/query.ts'
import { quoteBestLine } from '../../recall/quote-best-line.ts'
import { rankUnits, type RankedUnit } from '../../recall/rank-units.ts'
import { termsOf } from '../../recall/terms.ts'
import type { IndexDatabase } from './index-database.ts'
import { newestRows, queryShards, type FoundRow, type RowFilter } from './query-shards.ts'
import { createRowReader, type RowReader } from './read-row-text.ts'
import { speakersIn } from './write-rows.ts'

// A search of the index: candidates by words, ranked; then their texts are read and quoted.

export interface RecallWish extends RowFilter {
  /** What to look for. Without words, `file` or a time decides, and the newest comes first. */
  readonly words: string
  /** What is being done (`contextOf`): of two hits that match equally well, the one closer to it ranks first. */
  readonly context?: readonly ContextQuery[] | undefined
  /** The session that asks: its own hits rank before those of others. */
  readonly from?: string | undefined
  /** Messages that the asking model sees: they rank after all others. */
  readonly inView?: ReadonlySet<EntryId> | undefined
  readonly limit: number
  /** How long to search the index. The answer leaves out older content that was not reached by then, and says so. */
  readonly indexMsMax?: number | undefined
}

export interface IndexAnswer {
  readonly hits: readonly RecallHit[]
  /** Nothing older than this was searched, because time ran out. Undefined: everything was. */
  readonly cutAt: number | undefined
}

export interface IndexPlace {
  readonly db: IndexDatabase
  readonly home: string
  readonly folder: string
}

/** Including the time to read the texts, a search takes at most half a second. */
const SEARCH_MS = 250
/** Time for the search by context. */
const CONTEXT_MS = 80
/** The words again, in what calls name: the user more likely means a file of that name than one that mentions it. */
const ABOUT_WEIGHT = 0.4
const ROWS_MAX = 400
/** More, because rows in view take places from others. */
const ROWS_MAX_IN_VIEW = 1_200
const PHRASE_ROWS_MAX = 60
const PHRASE_WORDS_MAX = 16
const PREFIX_CHARS_MIN = 3

export async function searchIndex(place: IndexPlace, wish: RecallWish): Promise<IndexAnswer> {
  const { db, home, folder } = place
  const query = toQuery(wish.words)
  const found = query ? findUnits(db, wish, query) : listUnits(db, wish)
  const reader = createRowReader(db, home, folder)
  try {
    return { hits: await quoteUnits(found, wish, query, reader), cutAt: found.cutAt }
  } finally {
    await reader.close()
  }
}

interface FoundUnits {
  readonly units: readonly RankedUnit<FoundRow>[]
  /** Units that contain the phrase: they are read, whatever their rank. */
  readonly phrased: ReadonlySet<number>
  readonly cutAt: number | undefined
}

function findUnits(db: IndexDatabase, wish: RecallWish, query: RecallQuery): FoundUnits {
  const now = (): number => performance.now()
  const until = now() + (wish.indexMsMax ?? SEARCH_MS)
  const { terms, named } = withoutNames(db, termsOf(query.text))
  const words = query.text.split(/\s+/u).length
  const filter = wish
  const rowsMax = wish.inView ? ROWS_MAX_IN_VIEW : ROWS_MAX
  const isPrefix = words === 1 && query.text.length >= PREFIX_CHARS_MIN && terms.length === 1
  const asked = queryShards(db, { terms, filter, isPrefix, rowsMax, until }, now)
  const isPhrase = words > 1 && words <= PHRASE_WORDS_MAX
  const phrase = isPhrase
    ? queryShards(db, { terms, phrase: query.text, filter, rowsMax: PHRASE_ROWS_MAX, until }, now).rows
    : []
  const contextUntil = now() + (wish.indexMsMax ?? CONTEXT_MS)
  const further = [
    { terms, isAbout: true, weight: ABOUT_WEIGHT },
    ...(wish.context ?? []).map(({ words: done, weight }) => ({
      terms: termsOf(done),
      isAbout: false,
      weight,
    })),
  ]
  const context = further.flatMap(({ weight, ...of }) => {
    if (of.terms.length === 0) return []
    return [{ rows: queryShards(db, { ...of, filter, rowsMax, until: contextUntil }, now).rows, weight }]
  })
  const rows = withPhrases(asked.rows, phrase)
  // Hits in view are ranked separately: the latest work always matches the latest work best.
  const [unseen, seen] = [false, true].map((isSeen) => {
    const ofThese = (row: FoundRow): boolean => (wish.inView?.has(row.entry) === true) === isSeen
    return rankUnits({
      asked: rows.filter(ofThese),
      context: context.map(({ rows: found, weight }) => ({ rows: found.filter(ofThese), weight })),
      named,
      session: wish.from,
    })
  })
  const units = [...(unseen ?? []), ...(seen ?? [])]
  // The context only decides between hits and finds nothing by itself.
  const answers = rows.length > 0 ? units : []
  return { units: answers, phrased: new Set(phrase.map(({ unit }) => unit)), cutAt: asked.cutAt }
}

/** Rows that contain the phrase are candidates, however many others contain some of its words. */
function withPhrases(rows: readonly FoundRow[], phrase: readonly FoundRow[]): readonly FoundRow[] {
  const known = new Set(rows.map(({ id }) => id))
  return [...rows, ...phrase.filter(({ id }) => !known.has(id))]
}

/** A speaker's name in the query restricts who spoke; it is not a word to find. */
function withoutNames(
  db: IndexDatabase,
  terms: readonly string[],
): { readonly terms: readonly string[]; readonly named: ReadonlySet<number> } {
  const names = speakersIn(db)
  const others = terms.filter((term) => !names.has(term))
  const named = new Set(terms.flatMap((term) => names.get(term) ?? []))
  return others.length > 0 ? { terms: others, named } : { terms, named: new Set() }
}

/** Without words: the newest rows that pass the filter. */
function listUnits(db: IndexDatabase, wish: RecallWish): FoundUnits {
  const { rows, cutAt } = newestRows(db, wish, { limit: wish.limit, until: performance.now() + SEARCH_MS })
  return {
    units: rows.map((row) => ({ unit: row.unit, score: 1, rows: [row] })),
    phrased: new Set(),
    cutAt,
  }
}

/** Summaries and files that were read again repeat earlier content, so the original ranks before them. */
const REPEATED_LESS = 0.05
/** More than any score: what is in view need not be found. */
const IN_VIEW_LESS = 2
/** Units read beyond the requested hits, since some repeat others and the files of some have changed. */
const UNITS_MORE = 10
const ROWS_PER_UNIT = 2
/** A row with some of the words ranks after one with a line that contains all of them. */
const SOME_WORDS = ALL_WORDS * 0.8

interface Candidate {
  readonly hit: RecallHit
  readonly unitScore: number
  /** `beside`: only the turns beside it contain the words. */
  readonly fit: 'exact' | 'some' | 'beside'
}

async function quoteUnits(
  { units, phrased }: FoundUnits,
  wish: RecallWish,
  query: RecallQuery | undefined,
  reader: RowReader,
): Promise<readonly RecallHit[]> {
  const candidates = new Map<string, Candidate>()
  const terms = query ? termsOf(query.text) : []
  const read = units.filter(({ unit }, i) => i < wish.limit + UNITS_MORE || phrased.has(unit))
  const wanted = read.flatMap((unit) => unit.rows.slice(0, ROWS_PER_UNIT))
  const textsOf = await reader.read(wanted)
  for (const { rows, score } of read)
    for (const row of rows.slice(0, ROWS_PER_UNIT)) {
      const texts = textsOf.get(row) ?? []
      const exact = query ? texts.flatMap((text) => findQuotes(text, query)) : []
      const quotes = exact.length > 0 ? exact : bestLines(texts, terms, query ? SOME_WORDS * score : score)
      const isEnough = exact.length === 0 && row !== rows[0]
      if (isEnough) continue
      for (const quote of quotes) {
        const isBeside = isTalk(row) && !holdsAny(texts, terms)
        const fit = exact.length > 0 ? 'exact' : isBeside ? 'beside' : 'some'
        addCandidate(candidates, { hit: toHit(row, quote, wish, reader), unitScore: score, fit })
      }
    }
  const all = [...candidates.values()]
  // If there is an exact match, hits found only through neighboring turns do not count.
  const isExact = all.some(({ fit }) => fit === 'exact')
  return all
    .filter(({ fit }) => !isExact || fit !== 'beside')
    .toSorted((a, b) => b.hit.score - a.hit.score || b.unitScore - a.unitScore || newer(a.hit, b.hit))
    .slice(0, wish.limit)
    .map(({ hit }) => hit)
}

/** The text that says most: if none contains the words, the longest, since the first text of a call is the tool's name. */
function bestLines(texts: readonly string[], terms: readonly string[], score: number): readonly Quote[] {
  const holds = (text: string): number => terms.filter((term) => text.toLowerCase().includes(term)).length
  const [best] = texts.toSorted((a, b) => holds(b) - holds(a) || b.length - a.length)
  const quote = best === undefined ? undefined : quoteBestLine(best, terms, score)
  return quote ? [quote] : []
}

/** Only turns of talk are found through the turns beside them. */
function isTalk({ kind }: FoundRow): boolean {
  return kind === 'user' || kind === 'assistant'
}

function holdsAny(texts: readonly string[], terms: readonly string[]): boolean {
  return texts.some((text) => {
    const small = text.toLowerCase()
    return terms.some((term) => small.includes(term))
  })
}

/** A fork repeats the lines of its source, so equal hits count once. */
function addCandidate(candidates: Map<string, Candidate>, candidate: Candidate): void {
  const { hit } = candidate
  const key = `${hit.id}\n${hit.quote}`
  const known = candidates.get(key)
  if (!known || known.hit.score < hit.score) candidates.set(key, candidate)
}

function toHit(row: FoundRow, quote: Quote, { inView }: RecallWish, reader: RowReader): RecallHit {
  const repeated = row.kind === 'summary' || row.kind === 'attachment' ? REPEATED_LESS : 0
  const seen = inView?.has(row.entry) === true ? IN_VIEW_LESS : 0
  const id = row.entry === '' ? placeOf(row, reader) : row.entry
  const { session, at, kind } = row
  return { id, session, at, kind, ...quote, score: quote.score - repeated - seen }
}

/** For a stored result its path; for a line that is no entry, the path with its offset in the file. */
function placeOf(row: FoundRow, reader: RowReader): string {
  const path = reader.pathOf(row)
  return path.endsWith('.jsonl') ? `${path}:${row.offset}` : path
}

function newer(a: RecallHit, b: RecallHit): number {
  return (Number.isNaN(b.at) ? -Infinity : b.at) - (Number.isNaN(a.at) ? -Infinity : a.at) || 0
}
