import type { Dirent } from 'node:fs'
import { lstat, readdir, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

import type { Access } from '../paths/access.ts'
import { isInside } from '../paths/real-path.ts'
import { matchPathPattern, parsePathPattern, type PathPattern } from '../patterns/path-pattern.ts'
import { anchorPattern, hidesFiles } from '../permissions/match-path.ts'
import type { Rule } from '../permissions/rule.ts'
import type { Mount } from './mount.ts'

// Finds the files on disk that rules keep from being read unasked, so that they can be covered. A rule that names a place is followed
// there; a rule for any depth needs a search of everything, which has a limit.

type Closed = Extract<Mount, { kind: 'closed' }>

/** Entries that the search may read. It runs before every command; more would be noticeable. */
export const ENTRIES_MAX = 30_000

/** Undefined: a rule hides everything, or there is too much to look through. */
export async function hiddenPlaces(
  access: Access,
  folders: readonly string[],
): Promise<readonly Closed[] | undefined> {
  const hiding = access.rules.filter(hidesFiles)
  if (hiding.some(({ pattern }) => pattern === undefined)) return undefined
  const budget: Budget = { left: ENTRIES_MAX }
  const found: Closed[] = []
  const ways = hiding.map((rule) => wayOf(rule, access))
  const follows = ways.includes('any depth, by several names')
  if (follows || ways.includes('any depth'))
    for (const folder of folders)
      found.push(...(await below(folder, { isHidden: access.isHidden, follows }, budget)))
  for (const way of ways) if (typeof way === 'object') found.push(...(await followed(way, budget)))
  if (budget.left < 0) return undefined
  const isShown = ({ path }: Closed): boolean => folders.some((folder) => isInside(folder, path))
  return [...new Map(found.filter(isShown).map((closed) => [closed.path, closed])).values()]
}

interface Budget {
  left: number
}

/** A file or folder under its name; a link counts as what it leads to. */
interface Place {
  readonly named: string
  readonly real: string
  readonly isFolder: boolean
}

/** Undefined for a broken link. */
async function placeOf(entry: Dirent, folder: Pick<Place, 'named' | 'real'>): Promise<Place | undefined> {
  const named = join(folder.named, entry.name)
  const path = join(folder.real, entry.name)
  if (!entry.isSymbolicLink()) return { named, real: path, isFolder: entry.isDirectory() }
  const real = await realpath(path).catch(() => undefined)
  const found = real === undefined ? undefined : await lstat(real).catch(() => undefined)
  return real === undefined || found === undefined
    ? undefined
    : { named, real, isFolder: found.isDirectory() }
}

interface Search {
  /** Takes a path as named, which may lead through links. */
  readonly isHidden: (path: string) => boolean
  /** Rules may mean names inside a linked folder, not only the link itself. */
  readonly follows: boolean
}

async function below(
  folder: string,
  { isHidden, follows }: Search,
  budget: Budget,
): Promise<readonly Closed[]> {
  const found: Closed[] = []
  const waiting: Pick<Place, 'named' | 'real'>[] = [{ named: folder, real: folder }]
  for (let next = waiting.pop(); next !== undefined && budget.left >= 0; next = waiting.pop()) {
    for (const entry of await entriesOf(next.real, budget)) {
      const isLink = entry.isSymbolicLink()
      const isMeant = isHidden(join(next.named, entry.name))
      if (isLink && !isMeant && !follows) continue
      const place = await placeOf(entry, next)
      if (place === undefined) continue
      if (isMeant) found.push({ kind: 'closed', path: place.real, isFolder: place.isFolder })
      // A link to a folder above would loop, and leads to no names that the search does not find anyway.
      else if (place.isFolder && !(isLink && isInside(place.real, next.real))) waiting.push(place)
    }
  }
  return found
}

async function entriesOf(folder: string, budget: Budget): Promise<readonly Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  budget.left -= entries.length
  return entries
}

interface Way {
  readonly base: string
  readonly pattern: PathPattern
}

/** A `**` at the end means everything inside. */
function wayOf(
  { pattern = '' }: Rule,
  access: Access,
): Way | 'any depth' | 'any depth, by several names' | 'nothing' {
  const { base, pattern: own } = anchorPattern(pattern, access)
  const parsed = parsePathPattern(own, true)
  if (parsed === undefined) return 'nothing'
  const { segments } = parsed
  const fixed = segments.at(-1) === 'deep' ? segments.slice(0, -1) : segments
  if (fixed.length === 0 || fixed.includes('deep'))
    return fixed.filter((segment) => segment !== 'deep').length > 1
      ? 'any depth, by several names'
      : 'any depth'
  return { base, pattern: { ...parsed, segments: fixed } }
}

/** Follows the pattern level by level. Rules that hide ignore case, as everywhere. */
async function followed({ base, pattern }: Way, budget: Budget): Promise<readonly Closed[]> {
  let folders: readonly Pick<Place, 'named' | 'real'>[] = [{ named: base, real: base }]
  let found: Place[] = []
  for (const depth of pattern.segments.keys()) {
    const start = { ...pattern, segments: pattern.segments.slice(0, depth + 1), isFolder: false }
    found = []
    for (const folder of folders) {
      for (const entry of await entriesOf(folder.real, budget)) {
        const below = relative(base, join(folder.named, entry.name)).split(sep).join('/')
        const place = matchPathPattern(start, below).matches ? await placeOf(entry, folder) : undefined
        if (place !== undefined) found.push(place)
      }
    }
    folders = found.filter(({ isFolder }) => isFolder)
  }
  const meant = pattern.isFolder ? found.filter(({ isFolder }) => isFolder) : found
  return meant.map(({ real, isFolder }) => ({ kind: 'closed', path: real, isFolder }))
}
