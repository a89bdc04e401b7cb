import { lstat, readlink, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, normalize, relative, sep } from 'node:path'

import { Refusal } from '../refusal.ts'
import { systemCode } from '../files/system-code.ts'

/** As many as Linux follows. */
const LINKS_MAX = 40

/**
 * The path a write would reach: every symbolic link followed before a `..` behind it counts, as the system does; also one that
 * dangles, also where the last parts do not exist yet. Where the disk ignores case, existing parts have the case of the disk.
 */
export async function realPathOf(path: string): Promise<string> {
  const start = isAbsolute(path) ? path : `${process.cwd()}/${path}`
  try {
    return await realpath(start)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
  return walk(start)
}

/** Something on the way is not there: mostly the last part alone, which is about to be written. Otherwise part by part. */
async function walk(path: string): Promise<string> {
  const last = path.lastIndexOf('/') + 1
  const parent = await existing(path.slice(0, last))
  const parts = parent === undefined ? path.split('/') : [path.slice(last)]
  let at = parent ?? '/'
  let links = LINKS_MAX
  /** How many of the last parts of `at` are not there: nothing is below them. */
  let missing = 0
  /** Below a parent that is there: it is what was not found. */
  let isLast = parent !== undefined
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part === '' || part === '.') continue
    if (part === '..') {
      at = dirname(at)
      missing = Math.max(0, missing - 1)
      continue
    }
    const here = join(at, part)
    const found = missing > 0 || isLast ? undefined : await existing(here)
    isLast = false
    const target = found === undefined && missing === 0 ? await linkTarget(here) : undefined
    if (target === undefined) {
      at = found ?? here
      if (found === undefined) missing++
      continue
    }
    if (links-- === 0) throw new Refusal(`Cannot use ${path}: too many symbolic links.`)
    if (target.startsWith('/')) at = '/'
    parts.unshift(...target.split('/'))
  }
  return at
}

/**
 * Every name under which the system comes by on the way to a path: as it is written, again after each link on the way, and the real one.
 * A rule that forbids one of them forbids them all. Rejects where `realPathOf` does.
 */
export async function namesAlong(path: string): Promise<readonly string[]> {
  const start = isAbsolute(path) ? path : `${process.cwd()}/${path}`
  const real = await realPathOf(start)
  // No link is on the way.
  if (real === start) return [start]
  const names = new Set([start, normalize(start)])
  const parts = start.split('/')
  let at = '/'
  let links = LINKS_MAX
  for (let part = parts.shift(); part !== undefined && links > 0; part = parts.shift()) {
    if (part === '' || part === '.') continue
    const here = part === '..' ? dirname(at) : join(at, part)
    const target = part === '..' ? undefined : await readlink(here).catch(() => undefined)
    if (target === undefined) {
      at = here
      continue
    }
    links--
    names.add(join(here, ...parts))
    if (target.startsWith('/')) at = '/'
    parts.unshift(...target.split('/'))
  }
  return [...names, real]
}

async function existing(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
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
