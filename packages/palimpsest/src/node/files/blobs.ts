import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { join } from 'node:path'
import { StorageError } from '../../errors.ts'
import type { BlobRef } from '../../transcript/entry.ts'
import { createExclusively } from './atomic-write.ts'
import { makeFolder, openInside } from './inside-home.ts'
import { requireSessionId, type ProjectFolder } from './paths.ts'
import { toStorageError } from './to-storage-error.ts'

// Tool results beside the transcript. (B1) A blob is on disk before `save` resolves, so before any entry can name it. A stored blob never
// changes: different content under the same id gets a name of its own.

export interface BlobStore {
  /** The same content under the same id is stored once. */
  readonly save: (toolUseId: string, text: string) => Promise<BlobRef>
  readonly read: (blob: BlobRef) => Promise<string>
  /** The absolute path, which the model is told. */
  readonly locate: (blob: BlobRef) => string
}

/** Most contents under one id: more than retries ever create. */
const CONTENTS_MAX = 1000

/** Paths in references are relative to the project's folder, so that forks and moved homes find their blobs. */
export function createBlobStore(project: ProjectFolder, sessionId: string): BlobStore {
  const { home, folder } = project
  const blobFolder = join(requireSessionId(sessionId), 'tool-results')
  const locate = (blob: BlobRef): string => join(folder, blob.path)

  async function save(toolUseId: string, text: string): Promise<BlobRef> {
    const content = Buffer.from(text, 'utf8')
    await makeFolder(home, join(folder, blobFolder))
    for (let number = 1; number <= CONTENTS_MAX; number++) {
      const name = `${fileName(toolUseId)}${number === 1 ? '' : `-${number}`}.txt`
      const blob = { path: join(blobFolder, name), bytes: content.length }
      if (await createExclusively(home, locate(blob), content)) return blob
      if (content.equals(await readBlob(home, locate(blob)))) return blob
    }
    throw new StorageError('io', `there are too many results of ${toolUseId} in ${blobFolder}. Remove some`)
  }

  return { save, read: async (blob) => (await readBlob(home, locate(blob))).toString('utf8'), locate }
}

const PLAIN_ID = /^[A-Za-z0-9_-]{1,128}$/

/** Ids of other forms, which some providers use, are hashed, so that no part of them becomes part of a path. */
function fileName(toolUseId: string): string {
  return PLAIN_ID.test(toolUseId)
    ? toolUseId
    : `id-${createHash('sha256').update(toolUseId).digest('hex').slice(0, 32)}`
}

async function readBlob(home: string, path: string): Promise<Buffer> {
  const handle = await openInside(home, path, constants.O_RDONLY)
  try {
    return await handle.readFile()
  } catch (error) {
    throw toStorageError(error, 'read', path)
  } finally {
    await handle.close()
  }
}
