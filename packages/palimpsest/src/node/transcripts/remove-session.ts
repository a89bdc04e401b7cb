import { lstat, rm, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { requireInside } from '../files/inside-home.ts'
import { takeLock } from '../files/lock.ts'
import { NOTES_FOLDER } from './notes-file.ts'
import { hasCode, toStorageError } from '../files/to-storage-error.ts'
import { tornFilesOf } from './torn-line.ts'

/**
 * Deletes a session: transcript, its torn lines, stored results, checkpoints, notes. The only function that loses something, and only when
 * the user asks. A session that another process has open is left alone. Resolves with the deleted paths.
 */
export async function removeSession(home: string, path: string): Promise<readonly string[]> {
  await requireInside(home, dirname(path))
  const lock = await takeLock(home, `${path}.lock`)
  try {
    const id = basename(path, '.jsonl')
    const others = [
      join(dirname(path), id),
      join(dirname(path), NOTES_FOLDER, `${id}.md`),
      ...(await tornFilesOf(path)),
    ]
    const gone: string[] = []
    // The transcript goes last: until then, the session can be found and removed again.
    for (const one of [...others, path]) if (await removeOne(one)) gone.push(one)
    return gone
  } catch (error) {
    throw toStorageError(error, 'remove', path)
  } finally {
    await lock.release()
  }
}

/** Removes a link, never its target. */
async function removeOne(path: string): Promise<boolean> {
  try {
    const found = await lstat(path)
    if (found.isDirectory()) await rm(path, { recursive: true })
    else await unlink(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}
