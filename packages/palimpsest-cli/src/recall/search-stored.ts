import { realpath } from 'node:fs/promises'
import { dirname, relative } from 'node:path'

import { UsageError } from 'palimpsest'
import {
  addHits,
  openRecall,
  readStoredFile,
  type RecallAnswer,
  type RecallPlace,
  type RecallSearch,
} from 'palimpsest/node'
import { createBestHits, toQuery, type RecallHit } from 'palimpsest/recall'

import { findById } from './find-by-id.ts'
import { memoriesElsewhere } from '../memory/memory-scopes.ts'
import { projectFolders, whichSession } from '../stored/find-session.ts'
import { storedHome } from '../run/palimpsest-home.ts'
import type { World } from '../world.ts'

export interface SearchWish {
  readonly query: string
  /** Shows what is under this id, instead of a search. */
  readonly id?: string | undefined
  readonly limit: number
  /** One session: an id, or a file. Absent: the whole project. */
  readonly session?: string | undefined
  /** A file that a call read, wrote or named. */
  readonly file?: string | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Reads all files instead of asking the index. */
  readonly scansAll: boolean
}

/** Time limit, because the user waits; the newest files are read first. */
const SCAN_MS_MAX = 20_000
/** If the index has none of the words, they may be parts of longer ones. */
const SCAN_AGAIN_MS_MAX = 2_000
/** Usually little is missing from the index. If more is missing, the next search indexes the rest, and this one reads it from the files. */
const UPDATE_MS_MAX = 2_000
/** Large slices: nothing else waits for this process. */
const SLICE_BYTES = 1 << 20

export async function searchStored(wish: SearchWish, given: World): Promise<RecallAnswer> {
  const isAny =
    wish.id !== undefined || wish.file !== undefined || wish.since !== undefined || wish.until !== undefined
  if (!toQuery(wish.query) && !isAny)
    throw new UsageError('recall: which words? `palimpsest recall "the words"` searches for them')
  const named = await storedHome(given)
  const home = await realpath(named).catch(() => named)
  const world = { ...given, env: { ...given.env, PALIMPSEST_HOME: home } }
  const found = await inPlaces(wish, home, world)
  return found.hits.length > 0 ? found : { ...found, notices: [...found.notices, 'nothing found'] }
}

async function inPlaces(wish: SearchWish, home: string, world: World): Promise<RecallAnswer> {
  const { limit, file, since, until, scansAll, query: words } = wish
  const scanMsMax = scansAll ? SCAN_MS_MAX : undefined
  const memories = memoriesElsewhere(home)
  const search = { words, limit, file, since, until, scansAll, scanMsMax }
  if (wish.session === undefined) {
    const folders = await projectFolders(world)
    const found: RecallAnswer[] = []
    const { id: wanted } = wish
    if (wanted !== undefined) {
      const all = folders.map(async (folder) => await findById(wanted, { home, folder }, world.signal))
      return { hits: (await Promise.all(all)).flat(), notices: [] }
    }
    for (const folder of folders) found.push(await inProject({ home, folder, memories }, search, world))
    return joined(found, limit)
  }
  const { id, path } = await whichSession(wish.session, world)
  const isStored = !relative(home, path).startsWith('..')
  if (isStored)
    return await inProject({ home, folder: dirname(path), memories }, { ...search, session: id }, world)
  return await inFile(path, wish, world)
}

async function inProject(place: RecallPlace, search: RecallSearch, { signal }: World): Promise<RecallAnswer> {
  const recall = openRecall(place)
  try {
    const late = AbortSignal.any([AbortSignal.timeout(UPDATE_MS_MAX), signal])
    const isWhole = search.scansAll === true || (await recall.update({ sliceBytes: SLICE_BYTES }, late))
    // Reads what could not be indexed: the user waits for a complete answer.
    const scanMsMax = isWhole ? (search.scanMsMax ?? SCAN_AGAIN_MS_MAX) : SCAN_MS_MAX
    return await recall.search({ ...search, scanMsMax }, signal)
  } finally {
    recall.close()
  }
}

/** A transcript outside the home has no index. */
async function inFile(path: string, { query: text, limit }: SearchWish, world: World): Promise<RecallAnswer> {
  const query = toQuery(text)
  if (!query) throw new UsageError('recall: a file outside PALIMPSEST_HOME can only be searched by words')
  const late = AbortSignal.timeout(SCAN_MS_MAX)
  const best = createBestHits(limit)
  const looking = { isWanted: query.mayHold }
  for await (const item of readStoredFile(path, looking, AbortSignal.any([late, world.signal])))
    addHits(best, item, query)
  const cut = `the search ended after ${SCAN_MS_MAX / 1000} s; the rest of the file was not read`
  return { hits: best.list(), notices: late.aborted ? [cut] : [] }
}

function joined(answers: readonly RecallAnswer[], limit: number): RecallAnswer {
  const byScore = (a: RecallHit, b: RecallHit): number => b.score - a.score
  const [only, ...others] = answers
  if (only && others.length === 0) return only
  return {
    hits: answers
      .flatMap(({ hits }) => hits)
      .toSorted(byScore)
      .slice(0, limit),
    notices: answers.flatMap(({ notices }) => notices),
  }
}
