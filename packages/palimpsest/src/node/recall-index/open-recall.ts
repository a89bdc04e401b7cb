import { join } from 'node:path'
import { createBestHits, type RecallHit } from '../../recall/best-hits.ts'
import { fuseRanks, type Embed } from '../../recall/fuse-ranks.ts'
import { toQuery, type RecallQuery } from '../../recall/query.ts'
import { readStored, type StoredItem, type StoredWish } from '../transcripts/read-stored.ts'
import { addHits } from './add-hits.ts'
import { removeIndexFile, textOf } from './index-database.ts'
import { searchIndex, type RecallWish } from './search-index.ts'
import { createStartOf, tidyIndex, updateIndex } from './update-index.ts'
import { createDatabaseUse, type IndexFolder } from './use-database.ts'

// Everything that was ever said in a project, searchable by words, file, time or id. The index answers; what is not in it yet is read from
// the files, and without an index everything is.

export interface RecallPlace extends IndexFolder {
  /** Folders of memories elsewhere below the home. */
  readonly memories?: readonly string[] | undefined
  /** A model of yours that turns texts into vectors. Hits that the words find are then also ranked by meaning. */
  readonly embed?: Embed | undefined
}

export interface RecallSearch extends RecallWish {
  /** How long to read files that the index does not cover. */
  readonly scanMsMax?: number | undefined
  /** Reads all files whatever the index says, to find parts of words. */
  readonly scansAll?: boolean | undefined
}

export interface RecallAnswer {
  readonly hits: readonly RecallHit[]
  /** What was not searched, and what to do about it. */
  readonly notices: readonly string[]
}

/** `rests`: pause after a slice, as a multiple of the slice's duration. */
export interface UpdatePace {
  readonly sliceBytes?: number
  readonly rests?: number
  /** Also merges full shards, which makes searches of large projects faster. */
  readonly tidies?: boolean
}

export interface Recall {
  readonly search: (wish: RecallSearch, signal?: AbortSignal) => Promise<RecallAnswer>
  /** The file that contains the entry with this id, or with an id that begins like this. */
  readonly findFile: (id: string) => Promise<string | undefined>
  /** Brings the index up to date, in slices. False: it was interrupted, another process is indexing, or no index is possible. */
  readonly update: (wish?: UpdatePace, signal?: AbortSignal) => Promise<boolean>
  readonly close: () => void
}

/** A slice takes some ten milliseconds: for a thread that others wait for. */
const SLICE_BYTES = 1 << 16
/** Time for files that the index does not cover; usually that is just the end of one file. */
const SCAN_MS_MAX = 200
/** If the index is complete and has none of the words, a short search of the newest files. */
const SCAN_AGAIN_MS_MAX = 50
/** Without an index, all files are read. */
const SCAN_ALL_MS_MAX = 20_000
const ID_CHARS_MIN = 8
/** With vectors, this many times the requested hits are ranked. */
const RANKED_TIMES = 3
/** A model that failed this often is not asked again. */
const FAILURES_MAX = 3

export function openRecall(place: RecallPlace): Recall {
  const { use, close } = createDatabaseUse(place)
  const never = new AbortController().signal
  let failures = 0
  return {
    search: async (wish, signal = never) => {
      const { embed } = place
      if (!embed || failures >= FAILURES_MAX) return await search(place, use, wish, signal)
      const found = await search(place, use, { ...wish, limit: wish.limit * RANKED_TIMES }, signal)
      const hits = await fuseRanks(wish.words, found.hits, embed).catch((error: unknown) => {
        failures++
        place.onTrace?.(`recall ranked by words alone: ${String(error)}`)
        return found.hits
      })
      return { ...found, hits: hits.slice(0, wish.limit) }
    },
    findFile: async (id) => {
      if (id.length < ID_CHARS_MIN) return undefined
      const sql = `SELECT DISTINCT files.path AS path FROM chunks JOIN files ON files.id = chunks.file WHERE entry >= ?1 AND entry < ?1 || char(1114111) ORDER BY files.mtime DESC LIMIT 1`
      const found = await use(async (db) => textOf(db.all(sql, id)[0]?.['path']))
      return found === undefined || found === '' ? undefined : join(place.folder, found)
    },
    update: async ({ sliceBytes = SLICE_BYTES, rests = 0, tidies = false } = {}, signal = never) => {
      const onProblem = (text: string): void => place.onTrace?.(text)
      const { home, folder, memories } = place
      const how = { home, folder, memories, sliceBytes, rests, onProblem }
      const isWhole = await use(async (db) => {
        const isDone = await updateIndex(db, how, signal)
        if (isDone && tidies) await tidyIndex(db, how, signal)
        return isDone
      })
      return isWhole === true
    },
    close,
  }
}

/**
 * Removes the index with every word in it. Call this after removing a text from the files; the next update builds it again from what is
 * left.
 */
export function removeRecallIndex({ folder }: Pick<RecallPlace, 'folder'>): void {
  removeIndexFile(folder)
}

type Use = ReturnType<typeof createDatabaseUse>['use']

async function search(
  place: RecallPlace,
  use: Use,
  wish: RecallSearch,
  signal: AbortSignal,
): Promise<RecallAnswer> {
  const notices: string[] = []
  const indexed = wish.scansAll
    ? undefined
    : await use(async (db) => {
        const found = await searchIndex({ db, home: place.home, folder: place.folder }, wish)
        return { ...found, startOf: createStartOf(db) }
      })
  if (indexed?.cutAt !== undefined) notices.push(cutNotice(indexed.cutAt))
  const query = toQuery(wish.words)
  if (!query || wish.file !== undefined) {
    if (!indexed) notices.push('there is no index here, so only words can be looked for')
    return { hits: indexed?.hits ?? [], notices }
  }
  const looking = { ...place, session: wish.session, onProblem: (text: string) => void notices.push(text) }
  const scanMs = wish.scanMsMax ?? (indexed ? SCAN_MS_MAX : SCAN_ALL_MS_MAX)
  const rest = await scan({ ...looking, startOf: indexed?.startOf }, { wish, query, scanMs }, signal)
  const hits = [...(indexed?.hits ?? []), ...rest.hits]
  if (hits.length === 0 && indexed && !rest.isCut) {
    // The index knows whole words, not parts of words.
    const againMs = wish.scanMsMax ?? SCAN_AGAIN_MS_MAX
    const all = await scan(looking, { wish, query, scanMs: againMs }, signal)
    return { hits: all.hits, notices: all.isCut ? [...notices, scanNotice(againMs, 'scan')] : notices }
  }
  if (rest.isCut) notices.push(scanNotice(scanMs, indexed ? 'index' : 'all'))
  return { hits: best(hits, wish.limit), notices }
}

interface ScanWish {
  readonly wish: RecallSearch
  readonly query: RecallQuery
  readonly scanMs: number
}

async function scan(
  looking: Omit<StoredWish, 'isWanted'>,
  { wish, query, scanMs }: ScanWish,
  signal: AbortSignal,
): Promise<{ readonly hits: readonly RecallHit[]; readonly isCut: boolean }> {
  if (scanMs <= 0) return { hits: [], isCut: true }
  const late = AbortSignal.timeout(scanMs)
  const found = createBestHits(wish.limit)
  const until = performance.now() + scanMs
  for await (const item of readStored(
    { ...looking, isWanted: query.mayHold },
    AbortSignal.any([late, signal]),
  )) {
    if (isWithin(item, wish))
      addHits(found, item, query, (entry) => (wish.inView?.has(entry.id) === true ? IN_VIEW_LESS : 0))
    if (performance.now() > until) return { hits: found.list(), isCut: true }
  }
  return { hits: found.list(), isCut: late.aborted }
}

const IN_VIEW_LESS = 2

function isWithin(item: StoredItem, { since = -Infinity, until = Infinity }: RecallWish): boolean {
  const at = item.kind === 'entry' ? item.entry.at : item.at
  return Number.isNaN(at) ? since === -Infinity && until === Infinity : at >= since && at <= until
}

/** In the order of their scores; an entry that both lists contain counts once. */
function best(hits: readonly RecallHit[], limit: number): readonly RecallHit[] {
  const first = new Map<string, RecallHit>()
  for (const hit of hits.toSorted((a, b) => b.score - a.score)) {
    const key = `${hit.id}\n${hit.quote}`
    if (!first.has(key)) first.set(key, hit)
  }
  return [...first.values()].slice(0, limit)
}

function cutNotice(at: number): string {
  const day = Number.isNaN(at)
    ? 'a part of it'
    : `what is older than ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}`
  return `${day} was not searched: the words are too common. Add a rarer word, or give --until`
}

function scanNotice(scanMs: number, why: 'index' | 'scan' | 'all'): string {
  const ended = `reading files ended after ${scanMs >= 1_000 ? `${scanMs / 1_000} s` : `${scanMs} ms`}`
  switch (why) {
    case 'index':
      return `${ended}: some are not in the index yet, and older ones were not read`
    case 'scan':
      return `the index holds none of these words; ${ended}, and older files were not read. --scan reads all for parts of words`
    case 'all':
      return `${ended}; older files were not read. Name a session with --session`
    default:
      return why satisfies never
  }
}
