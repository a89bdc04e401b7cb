import { lstat, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

import { Refusal, systemCode } from '../refusal.ts'

/** As many as Linux follows. */
const LINKS_MAX = 40

/**
 * The path a write would reach: every symbolic link followed, also one that dangles, also where the last parts do not exist yet.
 * Where the disk ignores case, existing parts have the case of the disk.
 */
export function realPathOf(path: string): Promise<string> {
  return follow(resolve(path), { left: LINKS_MAX })
}

/** The links left are shared by the whole walk: links that lead through each other would double the work at every step. */
async function follow(path: string, links: { left: number }): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
  if (dirname(path) === path) return path
  const parent = await follow(dirname(path), links)
  const here = join(parent, basename(path))
  const target = await linkTarget(here)
  if (target === undefined) return here
  if (links.left-- === 0) throw new Refusal(`Cannot use ${path}: too many symbolic links.`)
  return follow(resolve(parent, target), links)
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The folder itself counts as inside. Both paths are absolute and real. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
