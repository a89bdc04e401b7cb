import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A file below a folder. */
export interface Below {
  readonly path: string
  readonly bytes: number
  readonly changedAt: number
}

/**
 * All files with these endings below a folder. A link to a file counts; a link to a folder is not followed, because it may lead back. A
 * folder that cannot be read is listed in place of its files, so that reading it reports the reason.
 */
export async function filesBelow(folder: string, endings: readonly string[]): Promise<Below[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined)
  if (!entries) return [{ path: folder, bytes: 0, changedAt: 0 }]
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return await filesBelow(path, endings)
      return endings.some((ending) => entry.name.endsWith(ending)) ? await weigh(path) : []
    }),
  )
  return found.flat()
}

async function weigh(path: string): Promise<Below[]> {
  const info = await stat(path).catch(() => undefined)
  return info?.isFile() ? [{ path, bytes: info.size, changedAt: info.mtimeMs }] : []
}
