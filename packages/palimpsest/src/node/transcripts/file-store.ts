import { randomUUID } from 'node:crypto'
import { StorageError } from '../../errors.ts'
import type { AgentStore } from '../../ports.ts'
import { createBlobStore } from '../files/blobs.ts'
import { openHome } from '../files/inside-home.ts'
import { openProject, transcriptPath, type ProjectFolder } from '../files/paths.ts'
import { forkTranscript } from './fork-transcript.ts'
import { loadTranscript } from './load-transcript.ts'
import { readStoredFile } from './read-stored.ts'
import { createTranscript, openTranscript, type TranscriptFileOptions } from './transcript-file.ts'

/** Recorded as the writer in the lines of a transcript. */
const WRITER = 'palimpsest-library'

/** A store with one file per conversation below a folder and one writer at a time. Conversations outlive the process. */
export function fileStore(folder: string): AgentStore {
  let opening: Promise<ProjectFolder> | undefined
  const project = async (): Promise<ProjectFolder> => {
    opening ??= openHome(folder).then(async (home) => await openProject(home, home))
    return await opening
  }
  return {
    open: async (id, costOf) => {
      const at = await project()
      const options = {
        project: at,
        sessionId: id ?? randomUUID(),
        cwd: at.home,
        version: WRITER,
        now,
        costOf,
      }
      return await openStored(options)
    },
    fork: async (id) => {
      const at = await project()
      const sessionId = randomUUID()
      await forkTranscript({ source: transcriptPath(at, id), project: at, sessionId, version: WRITER, now })
      return sessionId
    },
  }
}

const now = (): number => Date.now()

async function openStored(options: TranscriptFileOptions): ReturnType<AgentStore['open']> {
  const { project, sessionId } = options
  const { file, loaded } = await openOrCreate(options)
  const blobs = createBlobStore(project, sessionId)
  const { signal } = new AbortController()
  return {
    id: sessionId,
    entries: loaded.entries,
    from: loaded.from,
    append: file.append,
    blobs,
    history: {
      entries: async function* (isWanted) {
        for await (const item of readStoredFile(file.path, { isWanted }, signal))
          if (item.kind === 'entry') yield item.entry
      },
      blob: async (blob) =>
        await blobs.read(blob).catch((error: unknown) => {
          if (error instanceof StorageError) return undefined
          throw error
        }),
      load: async (assumed) => await loadTranscript(file.path, assumed),
    },
    totals: file.totals,
    close: file.close,
  }
}

async function openOrCreate(options: TranscriptFileOptions): ReturnType<typeof openTranscript> {
  try {
    return await openTranscript(options)
  } catch (error) {
    if (!(error instanceof StorageError) || error.failure !== 'not-found') throw error
    const file = await createTranscript(options)
    return { file, loaded: await loadTranscript(file.path) }
  }
}
