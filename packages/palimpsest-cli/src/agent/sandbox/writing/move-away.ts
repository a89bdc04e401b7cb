import { chmod, cp, lstat, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { openFolder, type OpenFolder } from '../../files/open-folder.ts'
import { reasonOf, Refusal } from '../../refusal.ts'
import { systemCode } from '../../files/system-code.ts'

// Intruders in the working folder move to a folder of the session, where nothing runs them and nothing is lost. We hold an intruder's
// folder open: otherwise a command that still runs could replace it with a link, and we would move something else.

const OWN_FOLDER_MODE = 0o700
/** Error codes when a folder has disappeared or become a link. */
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

export interface Moved {
  readonly from: string
  readonly to: string
}

export interface Intruder {
  readonly path: string
  /** Target of the link that was there before, so that we can restore it. */
  readonly target?: string | undefined
}

/** An intruder that could not be moved: it is still where it was. */
export interface Stuck extends Intruder {
  /** Identifies the file. If someone removes it or puts another one there, the problem is solved. */
  readonly id: string
  readonly why: string
}

export interface MovedAway {
  readonly moved: readonly Moved[]
  readonly stuck: readonly Stuck[]
}

export async function moveAway(intruders: readonly Intruder[], quarantine: string): Promise<MovedAway> {
  const moved: Moved[] = []
  const stuck: Stuck[] = []
  for (const { path, target } of intruders) {
    try {
      const to = await moveOne(path, quarantine)
      if (to === undefined) continue
      moved.push({ from: path, to })
      if (target !== undefined) await symlink(target, path).catch(() => undefined)
    } catch (error) {
      const id = await idAt(path)
      if (id !== undefined) stuck.push({ path, target, id, why: reasonOf(error) })
    }
  }
  return { moved, stuck }
}

/** The files that are still where they could not be moved from. */
export async function stillThere(stuck: readonly Stuck[]): Promise<readonly Stuck[]> {
  const ids = await Promise.all(stuck.map(({ path }) => idAt(path)))
  return stuck.filter(({ id }, index) => ids[index] === id)
}

/** Undefined: nothing is there. */
async function idAt(path: string): Promise<string | undefined> {
  if (basename(path).includes('\uFFFD')) {
    const names = await readdir(dirname(path)).catch((): string[] => [])
    return names.includes(basename(path)) ? 'odd' : undefined
  }
  const found = await lstat(path, { bigint: true }).catch(() => undefined)
  // The system may give the number of a removed file to the next one, so the birth time counts too.
  return found && `${found.dev}:${found.ino}:${found.birthtimeNs}`
}

/** Undefined: it has disappeared, or is no longer where it was. */
async function moveOne(path: string, quarantine: string): Promise<string | undefined> {
  const folder = await openFolder(dirname(path), { create: false }).catch((error: unknown) => {
    if (error instanceof Refusal || GONE.has(systemCode(error) ?? '')) return undefined
    throw error
  })
  if (folder === undefined) return undefined
  try {
    await mkdir(quarantine, { recursive: true })
    const count = (await readdir(quarantine)).length
    const to = join(quarantine, `${count + 1}-${basename(path).replaceAll('\uFFFD', '_')}`)
    return (await moveFrom(folder, basename(path), to)) ? to : undefined
  } finally {
    await folder.close()
  }
}

async function moveFrom(folder: OpenFolder, name: string, to: string): Promise<boolean> {
  let isMoved = false
  for (const [index, source] of (await sourcesOf(folder, name)).entries()) {
    const place = index === 0 ? to : `${to}-${index}`
    try {
      // A folder that nobody may enter cannot be moved.
      await rename(source, place).catch(async (error: unknown) => {
        if (systemCode(error) !== 'EACCES') throw error
        await chmod(source, OWN_FOLDER_MODE)
        await rename(source, place)
      })
    } catch (error) {
      if (systemCode(error) === 'ENOENT') continue
      if (systemCode(error) !== 'EXDEV') throw error
      if (typeof source === 'string') await copyWhole(source, place)
      await rm(source, { recursive: true, force: true })
    }
    isMoved = true
  }
  return isMoved
}

/** Copies to another disk: everything, or nothing. */
async function copyWhole(source: string, place: string): Promise<void> {
  try {
    await cp(source, place, { recursive: true, verbatimSymlinks: true })
  } catch (error) {
    await rm(place, { recursive: true, force: true }).catch(() => undefined)
    throw error
  }
}

/** Finds a name that is not valid text by its bytes. */
async function sourcesOf(folder: OpenFolder, name: string): Promise<readonly (string | Buffer)[]> {
  if (!name.includes('\uFFFD')) return [join(folder.prefix, name)]
  const names = await readdir(folder.prefix, { encoding: 'buffer' })
  const meant = names.filter((one) => one.toString('utf8') === name)
  return meant.map((one) => Buffer.concat([Buffer.from(`${folder.prefix}/`), one]))
}
