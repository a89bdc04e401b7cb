import { constants } from 'node:fs'
import { mkdir, open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { Refusal } from '../refusal.ts'
import { systemCode } from './system-code.ts'

// (S1) An open folder cannot be replaced by a link. On Linux a path can begin at an open folder (`/proc/self/fd/N/name`), so everything
// done below it stays below it. On other systems we check the path before and after.

export interface OpenFolder {
  /** The real path it was opened by. */
  readonly path: string
  /** Prefix for a name in the open folder. */
  readonly prefix: string
  readonly close: () => Promise<void>
  readonly sync: () => Promise<void>
}

/** Opens the folder, which must be a real path without links. `create` makes missing folders. */
export async function openFolder(
  path: string,
  { create }: { readonly create: boolean },
): Promise<OpenFolder> {
  try {
    return await openExisting(path, path)
  } catch (error) {
    if (!create || systemCode(error) !== 'ENOENT' || dirname(path) === path) throw error
  }
  const parent = await openFolder(dirname(path), { create })
  try {
    const name = join(parent.prefix, basename(path))
    await mkdir(name).catch((error: unknown) => {
      if (systemCode(error) !== 'EEXIST') throw error
    })
    return await openExisting(name, path)
  } finally {
    await parent.close()
  }
}

async function openExisting(name: string, path: string): Promise<OpenFolder> {
  const handle = await open(name, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const prefix = await prefixOf(handle, path)
    return { path, prefix, close: () => handle.close(), sync: () => syncFolder(handle) }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Throws if the open folder is not the one at the path: a part of the path became a link. */
async function prefixOf(handle: FileHandle, path: string): Promise<string> {
  const prefix = `/proc/self/fd/${handle.fd}`
  const opened = await readlink(prefix).catch(() => undefined)
  if (opened !== undefined) {
    if (opened !== path) throw swapped(path)
    return prefix
  }
  const [real, ofHandle, ofPath] = [await realpath(path), await handle.stat(), await stat(path)]
  if (real !== path || ofHandle.ino !== ofPath.ino || ofHandle.dev !== ofPath.dev) throw swapped(path)
  return path
}

function swapped(path: string): Refusal {
  return new Refusal(`${path} changed while it was being used: a folder became a link. Nothing was written.`)
}

async function syncFolder(handle: FileHandle): Promise<void> {
  await handle.sync().catch((error: unknown) => {
    // Some systems cannot sync folders, and we can do nothing about it.
    if (!['EINVAL', 'ENOTSUP', 'EPERM', 'EISDIR'].includes(systemCode(error) ?? '')) throw error
  })
}
