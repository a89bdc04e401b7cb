import { chmod, cp, lstat, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { openFolder, type OpenFolder } from '../../files/open-folder.ts'
import { reasonOf, Refusal } from '../../refusal.ts'
import { systemCode } from '../../files/system-code.ts'

// Intruders in the working folder go to a folder of the session, where nothing runs them and nothing is lost. The folder that one lies
// in is held open: a command that still runs could put a link in its place, and something else would be moved.

const OWN_FOLDER_MODE = 0o700
/** What opening a folder fails with that is not there any more, or is a link by now. */
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP'])

export interface Moved {
  readonly from: string
  readonly to: string
}

export interface Intruder {
  readonly path: string
  /** Of the link that stood there before: it is put back. */
  readonly target?: string | undefined
}

/** What could not be moved: it is where it was. */
export interface Stuck extends Intruder {
  /** The file that stands there. Somebody who removes it, or puts another one there, has dealt with it. */
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

/** Those that still stand where they could not be moved from. */
export async function stillThere(stuck: readonly Stuck[]): Promise<readonly Stuck[]> {
  const ids = await Promise.all(stuck.map(({ path }) => idAt(path)))
  return stuck.filter(({ id }, index) => ids[index] === id)
}

/** Undefined: nothing stands there. */
async function idAt(path: string): Promise<string | undefined> {
  if (basename(path).includes('\uFFFD')) {
    const names = await readdir(dirname(path)).catch((): string[] => [])
    return names.includes(basename(path)) ? 'odd' : undefined
  }
  const found = await lstat(path, { bigint: true }).catch(() => undefined)
  // The number of a file that was removed may be given to the next one.
  return found && `${found.dev}:${found.ino}:${found.birthtimeNs}`
}

/** Undefined: it is not there any more, or not where it was. */
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
      // What nobody may enter nobody can move.
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

/** To another disk: all of it, or nothing. */
async function copyWhole(source: string, place: string): Promise<void> {
  try {
    await cp(source, place, { recursive: true, verbatimSymlinks: true })
  } catch (error) {
    await rm(place, { recursive: true, force: true }).catch(() => undefined)
    throw error
  }
}

/** A name that is no text is found again by its bytes. */
async function sourcesOf(folder: OpenFolder, name: string): Promise<readonly (string | Buffer)[]> {
  if (!name.includes('\uFFFD')) return [join(folder.prefix, name)]
  const names = await readdir(folder.prefix, { encoding: 'buffer' })
  const meant = names.filter((one) => one.toString('utf8') === name)
  return meant.map((one) => Buffer.concat([Buffer.from(`${folder.prefix}/`), one]))
}
