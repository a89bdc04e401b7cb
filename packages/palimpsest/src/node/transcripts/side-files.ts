import { constants } from 'node:fs'
import { join } from 'node:path'

import { writeAtomically } from '../files/atomic-write.ts'
import { makeFolder, openInside } from '../files/inside-home.ts'
import { requireSessionId, type ProjectFolder } from '../files/paths.ts'
import { readPlainText } from '../files/plain-file.ts'
import { toStorageError } from '../files/to-storage-error.ts'

// Small files of a session beside its transcript: how far memories were saved, and what its forks said.

const MARK_FILE = 'extraction.json'
const MARK_BYTES_MAX = 1_000
const FORKS = 'forks'

export interface MarkFile {
  /** Milliseconds since 1970; undefined if there is none. */
  readonly read: () => Promise<number | undefined>
  readonly save: (mark: number) => Promise<void>
}

/** Up to which time a session was searched for memories. */
export function createMarkFile(project: ProjectFolder, sessionId: string): MarkFile {
  const folder = join(project.folder, requireSessionId(sessionId))
  const path = join(folder, MARK_FILE)
  return {
    read: async () => {
      const text = await readPlainText(path, MARK_BYTES_MAX).catch(() => '')
      const mark = /"mark":(\d+)/.exec(text)?.[1]
      return mark === undefined ? undefined : Number(mark)
    },
    save: async (mark) => {
      if (!Number.isFinite(mark)) return
      await makeFolder(project.home, folder)
      await writeAtomically(project.home, path, `${JSON.stringify({ mark })}\n`, 'fleeting')
    },
  }
}

/** Records what one fork was told and said: messages, one line each, in the format of a transcript. */
export function createForkRecord(
  project: ProjectFolder,
  sessionId: string,
  {
    source,
    newId,
    now,
  }: { readonly source: string; readonly newId: () => string; readonly now: () => number },
): (message: string) => Promise<void> {
  const folder = join(project.folder, requireSessionId(sessionId), FORKS)
  const file = join(folder, `${source}-${newId()}.jsonl`)
  let parent: string | null = null
  return async (message) => {
    const head = {
      uuid: newId(),
      parentUuid: parent,
      sessionId,
      timestamp: new Date(now()).toISOString(),
      type: message.startsWith('{"role":"assistant"') ? 'assistant' : 'user',
      isSidechain: true,
    }
    parent = head.uuid
    try {
      await makeFolder(project.home, folder)
      const { O_APPEND, O_CREAT, O_WRONLY } = constants
      const handle = await openInside(project.home, file, O_APPEND | O_CREAT | O_WRONLY)
      try {
        await handle.appendFile(`${JSON.stringify(head).slice(0, -1)},"message":${message}}\n`)
      } finally {
        await handle.close()
      }
    } catch (error) {
      throw toStorageError(error, 'write', file)
    }
  }
}
