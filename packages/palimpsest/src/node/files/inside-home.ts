import { constants, type Stats } from 'node:fs'
import { lstat, mkdir, open, realpath, stat, type FileHandle } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { StorageError, UsageError } from '../../errors.ts'
import { kindOfFile } from './plain-file.ts'
import { hasCode, toStorageError } from './to-storage-error.ts'

// (S1) Nothing is written outside the home. The home itself may be reached through symbolic links; nothing inside may lead out of it.
// Folders are checked before use, and because check and use are two steps, the opened file is checked again.

export const FOLDER_MODE = 0o700
export const FILE_MODE = 0o600

/** The real path of the home. Creates the home if it does not exist. */
export async function openHome(path: string): Promise<string> {
  if (path === '') throw new UsageError('PALIMPSEST_HOME is empty: set it to a folder, or unset it')
  try {
    await makeWithParents(resolve(path))
    const found = await stat(path)
    if (!found.isDirectory()) throw new StorageError('not-found', notAHome(path, found))
    return await realpath(path)
  } catch (error) {
    // Its parents were just created, so what is still missing cannot be created.
    if (hasCode(error, 'ENOENT')) throw new StorageError('no-permission', cannotMake(path), { cause: error })
    throw toStorageError(error, 'make the folder', path)
  }
}

/** The error if something other than a folder is where the home should be. */
export function notAHome(path: string, found: Stats): string {
  return `${path} is ${kindOfFile(found)}, not a folder. Move it away, or choose another PALIMPSEST_HOME`
}

function cannotMake(path: string): string {
  return `cannot make the folder ${path}: no folder can be made there. Choose another PALIMPSEST_HOME`
}

/** Not `recursive`: in folders where none can be created (`/proc`), that never ends. */
async function makeWithParents(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: FOLDER_MODE })
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return
    if (!hasCode(error, 'ENOENT') || dirname(path) === path) throw error
    await makeWithParents(dirname(path))
    await mkdir(path, { mode: FOLDER_MODE })
  }
}

/** Makes a folder below the home, each part with mode 0700. Existing parts stay as they are. */
export async function makeFolder(home: string, folder: string): Promise<string> {
  const parts = partsBelow(home, folder)
  const whole = join(home, ...parts)
  if (await isFolderWithoutLinks(whole)) return whole
  let path = home
  for (const part of parts) {
    path = join(path, part)
    try {
      await mkdir(path, { mode: FOLDER_MODE })
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw toStorageError(error, 'make the folder', path)
      // It may be a link, so check it before making the next part in it.
      await requireInside(home, path)
    }
  }
  return path
}

/** Usually the folder exists. Everything else is found out part by part. */
async function isFolderWithoutLinks(path: string): Promise<boolean> {
  try {
    return (await realpath(path)) === path && (await lstat(path)).isDirectory()
  } catch {
    return false
  }
}

/** Throws unless the folder exists and is really inside the home. */
export async function requireInside(home: string, folder: string): Promise<void> {
  try {
    if ((await lstat(await realInside(home, folder))).isDirectory()) return
  } catch (error) {
    throw toStorageError(error, 'use', folder)
  }
  throw new StorageError('not-found', `cannot use ${folder}: it is a file, not a folder. Move it away`)
}

async function realInside(home: string, folder: string): Promise<string> {
  const real = await realpath(folder)
  partsBelow(home, real)
  return real
}

/** Opens a file below the home. If the last part of the path is a link, it is never followed. */
export async function openInside(home: string, path: string, flags: number): Promise<FileHandle> {
  partsBelow(home, path)
  await requireInside(home, dirname(path))
  const handle = await openNamed(path, flags)
  try {
    // A file was opened in it, so it is a folder.
    await realInside(home, dirname(path))
    return handle
  } catch (error) {
    await handle.close()
    throw toStorageError(error, 'open', path)
  }
}

/** Opens many files for reading. It checks each folder once for all of them, since that is most of the work. */
export interface InsideOpener {
  readonly open: (path: string) => Promise<FileHandle>
  /** Call this after everything is read and before any of it is used. False: a folder leads elsewhere by now, or is gone. */
  readonly isStillInside: () => Promise<boolean>
}

export function createInsideOpener(home: string): InsideOpener {
  const folders = new Map<string, Promise<void>>()
  return {
    open: async (path) => {
      partsBelow(home, path)
      const folder = dirname(path)
      const looked = folders.get(folder) ?? requireInside(home, folder)
      folders.set(folder, looked)
      await looked
      return await openNamed(path, constants.O_RDONLY)
    },
    isStillInside: async () => {
      const looked = await Promise.allSettled(
        [...folders.keys()].map(async (folder) => await requireInside(home, folder)),
      )
      return looked.every(({ status }) => status === 'fulfilled')
    },
  }
}

/** The file with this name; checks that it still has this name once it is open. */
async function openNamed(path: string, flags: number): Promise<FileHandle> {
  const handle = await openPlain(path, flags)
  try {
    const [opened, named] = [await handle.stat(), await lstat(path)]
    if (opened.ino === named.ino && opened.dev === named.dev) return handle
    throw new StorageError('io', `cannot open ${path}: it changed meanwhile. Try again`)
  } catch (error) {
    await handle.close()
    throw toStorageError(error, 'open', path)
  }
}

async function openPlain(path: string, flags: number): Promise<FileHandle> {
  try {
    // Without O_NONBLOCK, a named pipe in place of a file would wait forever.
    return await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, FILE_MODE)
  } catch (error) {
    throw toStorageError(error, 'open', path)
  }
}

function partsBelow(home: string, path: string): readonly string[] {
  const below = relative(home, path)
  if (below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below)) {
    const text = `${path} leads out of ${home}, and nothing is written there. Remove the symbolic link or ".." in it`
    throw new StorageError('no-permission', text)
  }
  return below === '' ? [] : below.split(sep)
}
