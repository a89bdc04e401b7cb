import { constants } from 'node:fs'
import { link, lstat, open, rename, unlink, type FileHandle } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'

import { Refusal } from '../refusal.ts'
import { systemCode } from './system-code.ts'
import { openFolder, type OpenFolder } from './open-folder.ts'

/** Names longer than this leave no room for the temporary file's suffix. */
const NAME_CHARS_KEPT = 100
const PERMISSION_BITS = 0o777

export interface Placement {
  /** Real path, without a link in it. */
  readonly path: string
  readonly bytes: Uint8Array
  /** `absent`: something that appears meanwhile is not replaced. */
  readonly replaces: 'absent' | 'file'
  /** Of a new file; what the user's own mask leaves, unless said. */
  readonly mode?: number | undefined
}

/**
 * Puts a file in place, whole or not at all. The old file is replaced, not written into: another name of it (a hard link outside)
 * keeps the old content. Mode and owner stay.
 */
export async function placeFile({ path, bytes, replaces, mode = 0o666 }: Placement): Promise<void> {
  const folder = await openFolder(dirname(path), { create: replaces === 'absent' })
  const target = join(folder.prefix, basename(path))
  const temporary = join(folder.prefix, `.${basename(path).slice(0, NAME_CHARS_KEPT)}.${randomUUID()}.tmp`)
  try {
    await writeTemporary(temporary, { bytes, mode, like: replaces === 'file' ? target : undefined })
    if (replaces === 'file') await rename(temporary, target)
    else await linkNew(temporary, target, path)
    await folder.sync()
  } finally {
    await removeTemporary(temporary)
    await folder.close()
  }
}

/** Removes a file, by the same rules as it is placed. */
export async function removeFile(path: string): Promise<void> {
  const folder: OpenFolder = await openFolder(dirname(path), { create: false })
  try {
    await unlink(join(folder.prefix, basename(path)))
    await folder.sync()
  } finally {
    await folder.close()
  }
}

interface Temporary {
  readonly bytes: Uint8Array
  readonly mode: number
  /** The file whose mode and owner it takes. */
  readonly like: string | undefined
}

async function writeTemporary(path: string, { bytes, mode, like }: Temporary): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const handle = await open(path, flags, mode)
  try {
    if (like !== undefined) await copyModeAndOwner(handle, like)
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function copyModeAndOwner(handle: FileHandle, like: string): Promise<void> {
  const old = await lstat(like)
  if (!old.isFile()) throw new Refusal(`${like} is no plain file any more. Nothing was written.`)
  const own = await handle.stat()
  if (own.uid !== old.uid || own.gid !== old.gid) {
    // Only the superuser may give files away; for everybody else the new file is their own.
    await handle.chown(old.uid, old.gid).catch((error: unknown) => {
      if (systemCode(error) !== 'EPERM') throw error
    })
  }
  await handle.chmod(old.mode & PERMISSION_BITS)
}

/** A hard link, unlike a rename, replaces nothing. */
async function linkNew(temporary: string, target: string, path: string): Promise<void> {
  try {
    await link(temporary, target)
  } catch (error) {
    if (systemCode(error) === 'EEXIST')
      throw new Refusal(`${path} appeared meanwhile. Read it first; nothing was written.`, { cause: error })
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(systemCode(error) ?? '')) throw error
    await rename(temporary, target)
  }
}

/** Gone already after a rename. Any other failure leaves a hidden file that does no harm. */
async function removeTemporary(path: string): Promise<void> {
  await unlink(path).catch(() => undefined)
}
