import { StorageError } from 'palimpsest'
import {
  addHits,
  readStored,
  readStoredFile,
  type BlobStore,
  type ProjectFolder,
  type StoredItem,
} from 'palimpsest/node'
import { createBestHits, recallById, toQuery, type Recalled, type RecallHit } from 'palimpsest/recall'
import type { BlobRef, Entry, EntryId } from 'palimpsest/transcript'

// What one conversation ever said, for the model that leads it: by words, or by an id that a text named. Reads its transcript and its
// stored results, and nothing else.

export interface SessionRecall {
  /** The best places first. `inView`: messages that the model sees, which come after all others. */
  readonly byWords: (
    words: string,
    wish: { readonly inView: ReadonlySet<EntryId>; readonly limit: number },
    signal: AbortSignal,
  ) => Promise<readonly RecallHit[]>
  readonly byId: (id: string, charsMax: number, signal: AbortSignal) => Promise<Recalled>
}

export interface RecalledSession {
  readonly project: ProjectFolder
  readonly id: string
  /** The transcript. */
  readonly path: string
  readonly blobs: BlobStore
}

/** More than any score: what is in view need not be found. */
const IN_VIEW_LESS = 2

export function createSessionRecall({ project, id, path, blobs }: RecalledSession): SessionRecall {
  const read = async (blob: BlobRef): Promise<string | undefined> =>
    await blobs.read(blob).catch((error: unknown) => {
      if (error instanceof StorageError) return undefined
      throw error
    })
  return {
    byWords: async (words, { inView, limit }, signal) => {
      const query = toQuery(words)
      if (!query) return []
      const best = createBestHits(limit)
      const lessOf = (entry: Entry): number => (inView.has(entry.id) ? IN_VIEW_LESS : 0)
      const inherited = new Map<string, BlobRef>()
      const note = (item: StoredItem): void => {
        if (item.kind === 'entry' && item.entry.kind === 'stored' && !item.entry.blob.path.startsWith(id))
          inherited.set(item.entry.blob.path, item.entry.blob)
      }
      const { home, folder } = project
      const onProblem = (): void => undefined
      const isWanted = (line: string): boolean => query.mayHold(line) || line.includes('tool-results')
      for await (const item of readStored({ home, folder, session: id, isWanted, onProblem }, signal)) {
        note(item)
        addHits(best, item, query, lessOf)
      }
      // A fork names results that lie in the folder of what it was forked from.
      for (const blob of inherited.values()) {
        const text = await read(blob)
        if (text !== undefined)
          addHits(best, { kind: 'text', session: id, id: blob.path, at: Number.NaN, text }, query)
      }
      return best.list()
    },
    byId: async (wanted, charsMax, signal) => {
      async function* entries(isWanted: (line: string) => boolean): AsyncGenerator<Entry> {
        for await (const item of readStoredFile(path, { isWanted }, signal))
          if (item.kind === 'entry') yield item.entry
      }
      return await recallById(wanted, { entries, blob: read }, charsMax)
    },
  }
}
