import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

import { readRegular } from '../files/open-regular.ts'
import { isPrivate, isReadablePath, type Access } from '../paths/access.ts'

// Finds the repository that git would use from a folder, to decide whether git sees all of it in the sandbox.

export type GitPlaces =
  /** `shown`: additional folders to show, those of the repository that a linked worktree belongs to. */
  | { readonly ok: true; readonly isFound: boolean; readonly shown: readonly string[] }
  | { readonly ok: false; readonly why: string }

/** Folders from a working folder up to the root; more than any real path has. */
const DEPTH_MAX = 256
const POINTER_BYTES_MAX = 8192

export async function gitPlaces(folder: string, access: Access): Promise<GitPlaces> {
  let at = folder
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const git = join(at, '.git')
    const found = await stat(git).catch(() => undefined)
    if (found !== undefined) {
      if (!isReadablePath(access, at))
        return { ok: false, why: `the repository is in ${at}, outside the working folders` }
      return found.isFile() ? linkedPlaces(git, access) : { ok: true, isFound: true, shown: [] }
    }
    if (dirname(at) === at) break
    at = dirname(at)
  }
  // Git itself reports that there is no repository.
  return { ok: true, isFound: false, shown: [] }
}

/**
 * A linked worktree: its repository is shown only if that repository names the worktree in return. Anyone's `.git` file can name any
 * folder, but only someone who may write to that folder can make it name the worktree.
 */
async function linkedPlaces(file: string, access: Access): Promise<GitPlaces> {
  const own = await pointedAt(file, /^gitdir: ([^\n]+)\n?$/)
  const elsewhere = {
    ok: false,
    why: `${file} leads to a repository outside the working folders`,
  } as const
  if (own === undefined) return { ok: true, isFound: true, shown: [] }
  if (isReadablePath(access, own)) return { ok: true, isFound: true, shown: [] }
  const back = await pointedAt(join(own, 'gitdir'), /^([^\n]+)\n?$/)
  const common = await pointedAt(join(own, 'commondir'), /^([^\n]+)\n?$/)
  // The common folder must be where `own` is: otherwise a file beside the worktree could name any folder as the common one.
  const isThere = basename(dirname(own)) === 'worktrees' && common === dirname(dirname(own))
  if (!isThere || back !== file || isPrivate(access, common)) return elsewhere
  return { ok: true, isFound: true, shown: [common] }
}

/** The real path that a file contains. */
async function pointedAt(file: string, form: RegExp): Promise<string | undefined> {
  const text = await readRegular(file, POINTER_BYTES_MAX).then(
    ({ bytes }) => bytes.toString('utf8'),
    () => '',
  )
  const path = form.exec(text)?.[1]
  return path === undefined ? undefined : await realpath(resolve(dirname(file), path)).catch(() => undefined)
}
