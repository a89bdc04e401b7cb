import { realpath } from 'node:fs/promises'
import { dirname, relative } from 'node:path'

import { UsageError } from 'palimpsest'
import { addHits, readStored, readStoredFile, type StoredItem } from 'palimpsest/node'
import { createBestHits, toQuery, type RecallHit } from 'palimpsest/recall'

import { projectFolders, whichSession } from '../stored/find-session.ts'
import { storedHome } from '../run/palimpsest-home.ts'
import type { World } from '../world.ts'

export interface SearchWish {
  readonly query: string
  readonly limit: number
  /** One session: an id, or a file. All of the project without it. */
  readonly session?: string
}

export interface SearchResult {
  readonly hits: readonly RecallHit[]
  readonly notices: readonly string[]
}

/** Whoever searches waits; the newest files are read first. */
const SEARCH_MS_MAX = 20_000

export async function searchStored(wish: SearchWish, world: World): Promise<SearchResult> {
  const query = toQuery(wish.query)
  if (!query) throw new UsageError('recall: what? `palimpsest recall "the words"`')
  const late = AbortSignal.timeout(SEARCH_MS_MAX)
  const signal = AbortSignal.any([late, world.signal])
  const notices: string[] = []
  const best = createBestHits(wish.limit)
  const onProblem = (text: string): void => void notices.push(text)
  for await (const item of itemsOf(wish, { isWanted: query.mayHold, onProblem }, world, signal))
    addHits(best, item, query)
  if (late.aborted)
    notices.push(
      `the search ended after ${SEARCH_MS_MAX / 1000} s; older files were not read. Name a session with --session`,
    )
  const hits = best.list()
  return { hits, notices: hits.length > 0 ? notices : [...notices, 'nothing was found'] }
}

interface Looking {
  readonly isWanted: (line: string) => boolean
  readonly onProblem: (text: string) => void
}

async function* itemsOf(
  { session }: SearchWish,
  looking: Looking,
  given: World,
  signal: AbortSignal,
): AsyncGenerator<StoredItem> {
  const named = await storedHome(given)
  const home = await realpath(named).catch(() => named)
  const world = { ...given, env: { ...given.env, PALIMPSEST_HOME: home } }
  if (session === undefined) {
    for (const folder of await projectFolders(world)) yield* readStored({ home, folder, ...looking }, signal)
    return
  }
  const { id, path } = await whichSession(session, world)
  const isStored = !relative(home, path).startsWith('..')
  if (isStored) yield* readStored({ home, folder: dirname(path), session: id, ...looking }, signal)
  else yield* readStoredFile(path, looking, signal)
}
