import type { History } from 'palimpsest'
import { createBlobStore, loadTranscript, readStoredFile } from 'palimpsest/node'

import type { OpenedSession } from './open-session.ts'

/** A stored result, by its path below the project's folder. The pattern allows nothing outside that folder. */
const BLOB_PATH = /^[\w-]+\/tool-results\/[\w.-]+\.txt$/

/** Everything a session's files hold, in view or not. */
export function historyOf(
  { project, session, file }: Pick<OpenedSession, 'project' | 'session' | 'file'>,
  signal: AbortSignal,
): History {
  const blobs = createBlobStore(project, session.id)
  return {
    entries: async function* (isWanted) {
      for await (const item of readStoredFile(file.path, { isWanted }, signal))
        if (item.kind === 'entry') yield item.entry
    },
    blob: async (blob) => (BLOB_PATH.test(blob.path) ? await blobs.read(blob) : undefined),
    load: async (assumed) => await loadTranscript(file.path, assumed),
  }
}
