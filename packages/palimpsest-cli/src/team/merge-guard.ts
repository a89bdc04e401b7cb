import { lstat } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import type { GitRan } from '../agents/worktree.ts'

// Finds what blocks a merge: uncommitted changes of the user, or an operation under way. Git checks most of this itself, but treats ignored
// files as worthless: it silently overwrites such a file, and removes such a folder.

type Git = (...args: readonly string[]) => Promise<GitRan>

/** The user or another git is in the middle of something: a merge now would end it, or merge only half. */
const UNDER_WAY: readonly (readonly [file: string, words: string])[] = [
  ['index.lock', 'another git command that is running (index.lock)'],
  ['MERGE_HEAD', 'a merge that is not concluded'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick that is not concluded'],
  ['REVERT_HEAD', 'a revert that is not concluded'],
  ['rebase-merge', 'a rebase that is not concluded'],
  ['rebase-apply', 'a rebase that is not concluded'],
  ['BISECT_LOG', 'a bisection that is not concluded'],
]

export type InTheWay =
  | { readonly ok: true; readonly what: readonly string[] }
  | { readonly ok: false; readonly why: string }

/** `top`: root of the working tree that `git` runs in. */
export async function findInTheWay(git: Git, top: string, commit: string): Promise<InTheWay> {
  const underWay = await findUnderWay(git, top)
  if (typeof underWay === 'string') return { ok: false, why: underWay }
  if (underWay.length > 0) return { ok: true, what: underWay }
  const changed = await git('diff', '--name-only', '-z', '--no-renames', `HEAD...${commit}`)
  const added = await git('diff', '--name-only', '-z', '--no-renames', '--diff-filter=A', 'HEAD', commit)
  const dirty = await git('status', '--porcelain', '-z', '--no-renames', '--untracked-files=all')
  const staged = await git('diff', '--cached', '--name-only', '-z', '--no-renames')
  for (const one of [changed, added, dirty, staged]) if (!one.ok) return { ok: false, why: one.why }
  // Git only merges into an index that matches the last commit.
  if (partsOf(staged).length > 0) return { ok: true, what: partsOf(staged) }
  const own = new Set(partsOf(dirty).map((entry) => entry.slice(3)))
  const theirs = partsOf(changed)
  const isNew = new Set(partsOf(added))
  const covered = await findCovered(
    git,
    top,
    theirs.filter((path) => isNew.has(path)),
  )
  return { ok: true, what: [...new Set([...theirs.filter((path) => own.has(path)), ...covered])] }
}

async function findUnderWay(git: Git, top: string): Promise<readonly string[] | string> {
  const places = await git('rev-parse', ...UNDER_WAY.flatMap(([file]) => ['--git-path', file]))
  if (!places.ok) return places.why
  const paths = places.text.split('\n')
  const found: string[] = []
  for (const [i, [, words]] of UNDER_WAY.entries())
    if (await exists(resolve(top, paths[i] ?? ''))) found.push(words)
  return found
}

/** Of the paths that the merge would create, those that hold something git does not track. */
async function findCovered(git: Git, top: string, paths: readonly string[]): Promise<readonly string[]> {
  const known = new Map<string, boolean>()
  for (const path of paths) {
    const parts = path.split('/')
    for (let depth = 1; depth <= parts.length; depth++) {
      const at = parts.slice(0, depth).join('/')
      const isThere = known.get(at) ?? (await isTaken(join(top, at), depth === parts.length))
      known.set(at, isThere)
      if (isThere) break
    }
  }
  const taken = [...known].flatMap(([at, isThere]) => (isThere ? [at] : []))
  const found: string[] = []
  for (let from = 0; from < taken.length; from += AT_ONCE) {
    const some = taken.slice(from, from + AT_ONCE)
    // Includes ignored files.
    const others = await git('--literal-pathspecs', 'ls-files', '--others', '-z', '--', ...some)
    const unknown = partsOf(others)
    const isUnknown = (at: string): boolean =>
      !others.ok || unknown.some((path) => path === at || path.startsWith(`${at}/`))
    found.push(...some.filter(isUnknown))
  }
  return found
}

/** Paths in one command line. */
const AT_ONCE = 500

/** True for anything in the place of a file, and for anything but a folder in the place of a folder. */
async function isTaken(path: string, isWhole: boolean): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  return found !== undefined && (isWhole || !found.isDirectory())
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}

export function partsOf(ran: GitRan): readonly string[] {
  return ran.ok ? ran.text.split('\0').filter(Boolean) : []
}
