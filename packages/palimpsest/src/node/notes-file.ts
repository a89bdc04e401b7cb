import { constants } from 'node:fs'
import { join } from 'node:path'
import { StorageError } from '../errors.ts'
import { writeAtomically } from './atomic-write.ts'
import { makeFolder, openInside } from './inside-home.ts'
import { requireSessionId, type ProjectFolder } from './paths.ts'

// Notes of a session, for people to read and to change. What they said is in the transcript too, so a lost file loses nothing.

export const NOTES_FOLDER = 'session-memory'

export interface NotesFile {
  readonly path: string
  /** Undefined where there are none, or none that can be read. */
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
          return await handle.readFile('utf8')
        } finally {
          await handle.close()
        }
      } catch (error) {
        if (error instanceof StorageError) return undefined
        throw error
      }
    },
    save: async (text) => {
      await makeFolder(project.home, folder)
      await writeAtomically(project.home, path, text, 'fleeting')
    },
  }
}
