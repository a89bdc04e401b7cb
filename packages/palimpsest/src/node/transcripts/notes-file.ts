import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from '../../errors.ts'
import { writeAtomically } from '../files/atomic-write.ts'
import { makeFolder, openInside } from '../files/inside-home.ts'
import { requireSessionId, type ProjectFolder } from '../files/paths.ts'
import { toStorageError } from '../files/to-storage-error.ts'

// Notes of a session, for people to read and change. The transcript has their content too, so a lost file loses nothing.

export const NOTES_FOLDER = 'session-memory'
/** Many times the size of notes. */
export const NOTES_BYTES_MAX = 1 << 20

export interface NotesFile {
  readonly path: string
  /** Undefined if there are none. Fails with a `StorageError` if something else is in their place. */
  readonly read: () => Promise<string | undefined>
  readonly save: (text: string) => Promise<void>
}

export function createNotesFile(project: ProjectFolder, sessionId: string): NotesFile {
  const folder = join(project.folder, NOTES_FOLDER)
  const path = join(folder, `${requireSessionId(sessionId)}.md`)
  return {
    path,
    read: async () => {
      try {
        const handle = await openInside(project.home, path, constants.O_RDONLY)
        try {
          return await readText(handle, path)
        } finally {
          await handle.close()
        }
      } catch (error) {
        const failed = toStorageError(error, 'read', path)
        if (failed instanceof StorageError && failed.failure === 'not-found') return undefined
        throw failed
      }
    },
    save: async (text) => {
      await makeFolder(project.home, folder)
      await writeAtomically(project.home, path, text, 'fleeting')
    },
  }
}

async function readText(handle: FileHandle, path: string): Promise<string> {
  const found = await handle.stat()
  if (!found.isFile()) throw unfit(path, 'it is not a file')
  if (found.size > NOTES_BYTES_MAX) throw unfit(path, `it is over ${NOTES_BYTES_MAX} bytes`)
  const text = await handle.readFile('utf8')
  if (text.includes('\0')) throw unfit(path, 'it is not text')
  return text
}

function unfit(path: string, why: string): StorageError {
  return new StorageError('io', `cannot read ${path}: ${why}. Move it away`)
}
