import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

import type { Access } from '../paths/access.ts'
import { isInside } from '../paths/real-path.ts'
import { matchPathPattern, parsePathPattern, type PathPattern } from '../patterns/path-pattern.ts'
import { anchorPattern, hidesFiles } from '../permissions/match-path.ts'
import type { Rule } from '../permissions/rule.ts'
import type { Mount } from './mount.ts'

// Files that rules keep from being read unasked, found on the disk, so that they can be covered. A rule that names its place is
// followed there; one that means any depth needs a look at everything, which has its limit.

type Closed = Extract<Mount, { kind: 'closed' }>

/** Looked at before every command; more would be felt. */
export const ENTRIES_MAX = 30_000

/** Undefined: there is too much to look through. */
export async function hiddenPlaces(
  access: Access,
  folders: readonly string[],
): Promise<readonly Closed[] | undefined> {
  const hiding = access.rules.filter(hidesFiles)
  if (hiding.some(({ pattern }) => pattern === undefined)) return undefined
  const budget: Budget = { left: ENTRIES_MAX }
  const found: Closed[] = []
  const ways = hiding.map((rule) => wayOf(rule, access))
  if (ways.includes('any depth'))
    for (const folder of folders) found.push(...(await below(folder, access.isHidden, budget)))
  for (const way of ways) if (typeof way === 'object') found.push(...(await followed(way, budget)))
  if (budget.left < 0) return undefined
  const isShown = ({ path }: Closed): boolean => folders.some((folder) => isInside(folder, path))
  return [...new Map(found.filter(isShown).map((closed) => [closed.path, closed])).values()]
}

interface Budget {
  left: number
}

async function below(
  folder: string,
  isHidden: (path: string) => boolean,
  budget: Budget,
): Promise<readonly Closed[]> {
  const found: Closed[] = []
  const waiting = [folder]
  for (let next = waiting.pop(); next !== undefined && budget.left >= 0; next = waiting.pop()) {
    for (const entry of await entriesOf(next, budget)) {
      const path = join(next, entry.name)
      if (entry.isSymbolicLink()) continue
      if (isHidden(path)) found.push({ kind: 'closed', path, isFolder: entry.isDirectory() })
      else if (entry.isDirectory()) waiting.push(path)
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

/** A `**` at the end stands for all that is inside. */
function wayOf({ pattern = '' }: Rule, access: Access): Way | 'any depth' | 'nothing' {
  const { base, pattern: own } = anchorPattern(pattern, access)
  const parsed = parsePathPattern(own, true)
  if (parsed === undefined) return 'nothing'
  const { segments } = parsed
  const fixed = segments.at(-1) === 'deep' ? segments.slice(0, -1) : segments
  if (fixed.length === 0 || fixed.includes('deep')) return 'any depth'
  return { base, pattern: { ...parsed, segments: fixed } }
}

/** Level by level, along what the pattern can match; as everywhere, what forbids does so in any case of letters. */
async function followed({ base, pattern }: Way, budget: Budget): Promise<readonly Closed[]> {
  let folders: readonly string[] = [base]
  let found: Closed[] = []
  for (const depth of pattern.segments.keys()) {
    const start = { ...pattern, segments: pattern.segments.slice(0, depth + 1), isFolder: false }
    found = []
    for (const folder of folders) {
      for (const entry of await entriesOf(folder, budget)) {
        const path = join(folder, entry.name)
        const isMet = matchPathPattern(start, relative(base, path).split(sep).join('/')).matches
        if (isMet && !entry.isSymbolicLink())
          found.push({ kind: 'closed', path, isFolder: entry.isDirectory() })
      }
    }
    folders = found.filter(({ isFolder }) => isFolder).map(({ path }) => path)
  }
  return pattern.isFolder ? found.filter(({ isFolder }) => isFolder) : found
}
