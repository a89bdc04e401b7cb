import { chmod, cp, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { openFolder, type OpenFolder } from '../../files/open-folder.ts'
import { systemCode } from '../../refusal.ts'
import type { Protected } from './look-through.ts'

// Intruders in the working folder go to a folder of the session, where nothing runs them and nothing is lost. The folder that one lies
// in is held open: a command that still runs could put a link in its place, and something else would be moved.

const OWN_FOLDER_MODE = 0o700

export interface Moved {
  readonly from: string
  readonly to: string
}

export interface MoveOptions {
  /** Links as they were, by their place. */
  readonly links: ReadonlyMap<string, Protected>
  readonly quarantine: string
}

export async function moveAway(
  intruders: readonly Protected[],
  made: readonly string[],
  { links, quarantine }: MoveOptions,
): Promise<readonly Moved[]> {
  const moved: Moved[] = []
  for (const one of intruders) {
    const to = await moveOne(one.path, quarantine)
    if (to === undefined) continue
    moved.push({ from: one.path, to })
    const target = links.get(one.slot)?.target
    if (target !== undefined) await symlink(target, one.path).catch(() => undefined)
  }
  for (const path of made) {
    const to = await moveOne(path, quarantine)
    if (to !== undefined) moved.push({ from: path, to })
  }
  return moved
}

/** Undefined: it is not there any more, or not where it was. */
async function moveOne(path: string, quarantine: string): Promise<string | undefined> {
  const folder = await openFolder(dirname(path), { create: false }).catch(() => undefined)
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
      if (typeof source === 'string') await cp(source, place, { recursive: true, verbatimSymlinks: true })
      await rm(source, { recursive: true, force: true })
    }
    isMoved = true
  }
  return isMoved
}

/** A name that is no text is found again by its bytes. */
async function sourcesOf(folder: OpenFolder, name: string): Promise<readonly (string | Buffer)[]> {
  if (!name.includes('\uFFFD')) return [join(folder.prefix, name)]
  const names = await readdir(folder.prefix, { encoding: 'buffer' })
  const meant = names.filter((one) => one.toString('utf8') === name)
  return meant.map((one) => Buffer.concat([Buffer.from(`${folder.prefix}/`), one]))
}
