import { StorageError } from 'palimpsest'
import { createBlobStore, openRecall, readStored, readStoredFile, type RecallPlace } from 'palimpsest/node'
import { recallById, type RecallHit } from 'palimpsest/recall'
import type { BlobRef, Entry } from 'palimpsest/transcript'

// The whole content under an id that a text named. The index knows the file; without it, all files of the project are read.

/** A range may be a whole conversation: beyond this size, only ids come back. */
const RANGE_CHARS_MAX = 200_000

export async function findById(
  id: string,
  place: RecallPlace,
  signal: AbortSignal,
): Promise<readonly RecallHit[]> {
  const recall = openRecall(place)
  const file = await recall.findFile(id).finally(recall.close)
  const sessions = new Map<string, string>()
  async function* entries(isWanted: (line: string) => boolean): AsyncGenerator<Entry> {
    const items =
      file === undefined
        ? readStored({ ...place, isWanted, onProblem: () => undefined }, signal)
        : readStoredFile(file, { isWanted }, signal)
    for await (const item of items) {
      if (item.kind !== 'entry') continue
      sessions.set(item.entry.id, item.session)
      yield item.entry
    }
  }
  const { home, folder } = place
  const blobs = createBlobStore({ home, folder, project: '' }, 'any')
  const blob = async (ref: BlobRef): Promise<string | undefined> =>
    await blobs.read(ref).catch((error: unknown) => {
      if (error instanceof StorageError) return undefined
      throw error
    })
  const found = await recallById(id, { entries, blob }, RANGE_CHARS_MAX)
  if (found.kind === 'none') return []
  const rows = found.kind === 'rows' ? found.rows.map((row) => ({ ...row, text: '' })) : found.texts
  return rows.map(({ id: own, at, what, text }) => ({
    ...{ id: own, session: sessions.get(own) ?? '', at, kind: what, quote: text },
    ...{ before: '', after: '', score: 1 },
  }))
}
