import { StorageError } from 'palimpsest'
import {
  openRecall,
  readStoredFile,
  type BlobStore,
  type ProjectFolder,
  type RecallAnswer,
} from 'palimpsest/node'
import { recallById, type ContextQuery, type Recalled } from 'palimpsest/recall'
import type { BlobRef, Entry, EntryId } from 'palimpsest/transcript'

import { memoriesElsewhere } from '../memory/memory-scopes.ts'

// Searches everything ever said in a conversation and in others of its project, for the conversation's model: by words, by a file, by time,
// or by an id that a text named. Only reads transcripts, stored results and memories of the project.

export interface SessionRecall {
  /** Best places first, those of this conversation before others. */
  readonly byWords: (wish: SessionWish, signal: AbortSignal) => Promise<RecallAnswer>
  readonly byId: (id: string, charsMax: number, signal: AbortSignal) => Promise<Recalled>
  readonly close: () => void
}

export interface SessionWish {
  readonly words: string
  readonly file?: string | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** What the last calls were about. */
  readonly context: readonly ContextQuery[]
  /** Messages that the model sees: they come after all others. */
  readonly inView: ReadonlySet<EntryId>
  readonly limit: number
}

export interface RecalledSession {
  readonly project: ProjectFolder
  readonly id: string
  /** Path of the transcript. */
  readonly path: string
  readonly blobs: BlobStore
}

export function createSessionRecall({ project, id, path, blobs }: RecalledSession): SessionRecall {
  const { home, folder } = project
  const recall = openRecall({ home, folder, memories: memoriesElsewhere(home) })
  const blob = async (ref: BlobRef): Promise<string | undefined> =>
    await blobs.read(ref).catch((error: unknown) => {
      if (error instanceof StorageError) return undefined
      throw error
    })
  const idIn = async (
    file: string,
    wanted: string,
    charsMax: number,
    signal: AbortSignal,
  ): Promise<Recalled> => {
    async function* entries(isWanted: (line: string) => boolean): AsyncGenerator<Entry> {
      for await (const item of readStoredFile(file, { isWanted }, signal))
        if (item.kind === 'entry') yield item.entry
    }
    return await recallById(wanted, { entries, blob }, charsMax)
  }
  return {
    byWords: async (wish, signal) => await recall.search({ ...wish, from: id }, signal),
    byId: async (wanted, charsMax, signal) => {
      const own = await idIn(path, wanted, charsMax, signal)
      if (own.kind !== 'none') return own
      const other = await recall.findFile(wanted)
      return other === undefined ? own : await idIn(other, wanted, charsMax, signal)
    },
    close: recall.close,
  }
}
