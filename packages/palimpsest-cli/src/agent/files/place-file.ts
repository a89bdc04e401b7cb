import { constants } from 'node:fs'
import { link, lstat, open, rename, unlink, type FileHandle } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'

import { Refusal } from '../refusal.ts'
import { systemCode } from './system-code.ts'
import { openFolder, type OpenFolder } from './open-folder.ts'

/** How much of a name goes into the temporary file's name, so that its suffix still fits. */
const NAME_CHARS_KEPT = 100
const PERMISSION_BITS = 0o777

export interface Placement {
  /** Real path, without links in it. */
  readonly path: string
  readonly bytes: Uint8Array
  /** `absent`: a file that appears in the meantime is not replaced. */
  readonly replaces: 'absent' | 'file'
  /** Mode of a new file. Undefined: what the user's umask leaves. */
  readonly mode?: number | undefined
}

/**
 * Puts a file in place, completely or not at all. It replaces the old file instead of writing into it, so a hard link from elsewhere keeps
 * the old content. Mode and owner stay.
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

/** Removes a file, with the same protection as `placeFile`. */
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
  /** The file whose mode and owner it takes. Undefined: none. */
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
    // Only the superuser may give files away; for everyone else the new file is their own.
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

/** After a rename it is already gone. Any other failure leaves a harmless hidden file. */
async function removeTemporary(path: string): Promise<void> {
  await unlink(path).catch(() => undefined)
}
