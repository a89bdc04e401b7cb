import { lstat, readlink, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, normalize, relative, sep } from 'node:path'

import { Refusal } from '../refusal.ts'
import { systemCode } from '../files/system-code.ts'

/** As many as Linux follows. */
const LINKS_MAX = 40

/**
 * The path that a write would reach. Like the system, follows every symbolic link before a `..` after it counts. The link may dangle, and
 * the last parts need not exist yet. If the disk ignores case, existing parts have the case of the disk.
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

/** Part of the path is missing: mostly only the last part, which is about to be written. Otherwise it resolves part by part. */
async function walk(path: string): Promise<string> {
  const last = path.lastIndexOf('/') + 1
  const parent = await existing(path.slice(0, last))
  const parts = parent === undefined ? path.split('/') : [path.slice(last)]
  let at = parent ?? '/'
  let links = LINKS_MAX
  /** How many of the last parts of `at` are missing: nothing is below them. */
  let missing = 0
  /** The part is below a parent that exists, so it is the missing one. */
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
 * Every name by which the system gets to a path: as written, again after each link on the way, and the real one. A rule that forbids one
 * of them forbids all. Rejects if `realPathOf` does.
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
