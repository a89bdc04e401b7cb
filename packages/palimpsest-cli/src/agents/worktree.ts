import { lstat, mkdir, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { isInside, realPathOf } from '../agent/paths/real-path.ts'
import { findGitRisk } from '../agent/permissions/find-git-risk.ts'
import { withVariables, type ChildEnvironment } from '../agent/process/child-environment.ts'
import { gitEnvironment } from '../agent/process/git-environment.ts'
import { runProcess } from '../agent/process/start-process.ts'

// A git worktree for one agent. Git runs for it unasked, so git must run nothing itself: hooks, monitors and pagers are disabled, and a
// repository that names a filter, has submodules or has an unusual form gets no worktree. A worktree that holds work is never removed.

export interface Worktree {
  readonly path: string
  /** The folder in it that matches its parent's folder in the repository. A real path. */
  readonly cwd: string
  readonly branch: string
  /** The commit that it begins with. */
  readonly base: string
  /** Number of the parent's uncommitted files, which are not in it. */
  readonly leftBehind: number
}

export type MadeWorktree = { readonly ok: true; readonly worktree: Worktree } | NoWorktree

export interface NoWorktree {
  readonly ok: false
  /** For a model that asked for one. */
  readonly why: string
  /** For the user: the same, without what a model could do instead. */
  readonly told: string
}

/** `cure`: what the user could do about it. */
export function noWorktree(fact: string, cure?: string): NoWorktree {
  if (cure === undefined) return { ok: false, why: `${fact}. Call the agent without isolation.`, told: fact }
  return {
    ok: false,
    why: `${fact}. Have the user ${cure}, or call the agent without isolation.`,
    told: `${fact}. To have worktrees, ${cure}`,
  }
}

/** Below the session's working folder, so that what is installed there is also found from a worktree. */
export function worktreesFolder(cwd: string): string {
  return join(cwd, '.palimpsest', 'worktrees')
}

export function branchOf(id: string): string {
  return `palimpsest-agent-${id}`
}

/** `from`: the folder whose last commit is checked out. `folder`: where the session's worktrees are. Neither is a link. */
export async function makeWorktree(
  id: string,
  { from, folder }: { readonly from: string; readonly folder: string },
  env: ChildEnvironment,
): Promise<MadeWorktree> {
  const git = gitIn(from, env)
  const risk = await findGitRisk(from, { isForWorktree: true })
  if (risk !== undefined) return noWorktree(`No worktree is made here: ${risk}`)
  const place = await git('rev-parse', '--show-toplevel', '--show-prefix')
  if (!place.ok)
    return noWorktree(`${from} is in no git repository (${place.why})`, 'run "git init" and commit')
  const [, prefix = ''] = place.text.split('\n')
  const head = await git('rev-parse', '--verify', '--quiet', 'HEAD^{commit}')
  if (!head.ok)
    return noWorktree('The repository has no commit that a worktree could begin with', 'commit first')
  const status = await git(...STATUS)
  if (!status.ok) return noWorktree(`git does not say what is changed here (${status.why})`)
  if (!(await prepareFolder(folder)))
    return noWorktree(`${folder} is reached by a link, and may lie anywhere`, 'remove the link')
  const [path, branch, base] = [join(folder, id), branchOf(id), head.text.trim()]
  const added = await git('worktree', 'add', '--quiet', '--no-track', '-b', branch, path, base)
  if (!added.ok) return noWorktree(`git made no worktree: ${added.why}`)
  const cwd = join(path, prefix)
  await mkdir(cwd, { recursive: true })
  const leftBehind = status.text.split('\0').filter(Boolean).length
  return { ok: true, worktree: { path, cwd: await realpath(cwd), branch, base, leftBehind } }
}

/** Creates the folder and makes git ignore it. False if the path has a link, which may lead anywhere. */
async function prepareFolder(folder: string): Promise<boolean> {
  if ((await realPathOf(folder)) !== folder) return false
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // If the folder already had a .gitignore, it stays.
  await writeFile(join(folder, '.gitignore'), '*\n', { flag: 'wx' }).catch(() => undefined)
  return true
}

/** For the agent, which may know other paths from its parent. */
export function worktreeText({ cwd, branch, base, leftBehind }: Worktree): string {
  const left =
    leftBehind === 0
      ? ''
      : ` ${leftBehind} files that were not committed are not in it as they are there; say so if you need them.`
  return `You work in a git worktree of your own, ${cwd}, on the branch ${branch}, made from commit ${base.slice(0, HASH_CHARS)}. Relative paths begin there. Where the task names a path of the project, use the same file in the worktree, and change nothing elsewhere.${left}`
}

const HASH_CHARS = 10

/** A worktree that is no longer needed. `written` undefined: the written paths are unknown. */
export interface Leaving {
  readonly path: string
  readonly branch: string
  readonly base?: string | undefined
  readonly leftBehind?: number | undefined
  readonly written?: readonly string[] | undefined
}

/** Removes the worktree if nothing was done in it. Otherwise it stays, and a sentence says where the work is. */
export async function leaveWorktree(
  leaving: Leaving,
  main: string,
  env: ChildEnvironment,
): Promise<readonly string[]> {
  const { path, branch, leftBehind = 0 } = leaving
  const behind =
    leftBehind === 0
      ? []
      : [
          `The worktree began with the last commit: ${leftBehind} files that were not committed were not in it. Commit first if that matters`,
        ]
  if ((await lstat(path).catch(() => undefined)) === undefined) return behind
  const found = await findWork(leaving, main, env)
  if (found.kind === 'none') {
    const git = gitIn(main, env)
    const removed = await git('worktree', 'remove', path)
    if (removed.ok) await git('update-ref', '-d', `refs/heads/${branch}`, found.head)
    return removed.ok ? behind : [...behind, `Its worktree ${path} could not be removed: ${removed.why}`]
  }
  return [
    ...behind,
    `Its work is in the git worktree ${path}, on the branch ${branch}: ${found.text}. Look at it there; "git merge ${branch}" brings in what is committed, "git worktree remove ${path}" removes the worktree`,
  ]
}

type Work =
  | { readonly kind: 'none'; readonly head: string }
  | { readonly kind: 'some'; readonly text: string }

/** The agent's commands may have changed the repository, so the risk is checked again before git looks at it. */
async function findWork(
  { path, branch, base, written }: Leaving,
  main: string,
  env: ChildEnvironment,
): Promise<Work> {
  const unknown = (why: string): Work => ({ kind: 'some', text: `nobody looked what is in it, since ${why}` })
  const risk = await findGitRisk(path, { isForWorktree: true })
  if (risk !== undefined) return unknown(risk)
  const git = gitIn(path, env)
  const [status, head, elsewhere] = [
    await git(...STATUS, '--ignored=matching'),
    await git('rev-parse', '--verify', 'HEAD'),
    await gitIn(main, env)('rev-parse', '--verify', 'HEAD'),
  ]
  for (const one of [status, head, elsewhere]) if (!one.ok) return unknown(one.why)
  if (!status.ok || !head.ok || !elsewhere.ok) return unknown('git failed')
  // Commits that are on no other branch; this works whether or not the starting commit is known.
  const mine = await git(
    ...['rev-list', '--count', 'HEAD', '--not', elsewhere.text.trim()],
    ...[`--exclude=${branch}`, '--branches', '--remotes', '--tags'],
  )
  if (!mine.ok) return unknown(mine.why)
  const entries = status.text.split('\0').filter(Boolean)
  const ignored = entries
    .filter((entry) => entry.startsWith('!! '))
    .map((entry) => join(path, entry.slice(3)))
  // What commands build is ignored for a reason; what the agent wrote itself is work.
  const kept = ignored.filter((at) => written?.some((one) => isInside(at, one)) ?? true)
  const changed = entries.length - ignored.length + kept.length
  const commits = Number(mine.text.trim())
  const isMoved = base !== undefined && head.text.trim() !== base
  if (changed === 0 && commits === 0 && !isMoved) return { kind: 'none', head: head.text.trim() }
  return { kind: 'some', text: `${counted(changed, 'file')} not committed, ${counted(commits, 'commit')}` }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

const STATUS = [
  'status',
  '--porcelain',
  '-z',
  '--no-renames',
  '--untracked-files=normal',
  '--ignore-submodules=all',
]

/** A large checkout takes time. */
const GIT_MS_MAX = 300_000
const GIT_BYTES_MAX = 16 * 1024 * 1024

export type GitRan =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string }

/** Git as it runs unasked: no program from the repository's or the user's settings runs with it. */
export function gitIn(
  cwd: string,
  env: ChildEnvironment,
  more: { readonly [name: string]: string } = {},
): (...args: readonly string[]) => Promise<GitRan> {
  const own = withVariables(env, { ...gitEnvironment('outside'), ...more })
  return async (...args) => {
    const start = { program: 'git', args: ['--no-pager', ...args], cwd, env: own }
    const end = await runProcess(start, { msMax: GIT_MS_MAX, bytesMax: GIT_BYTES_MAX })
    if (end.kind === 'failed') return { ok: false, why: end.message }
    if (end.code === 0) return { ok: true, text: end.stdout }
    const said = end.stderr.trim().split('\n').at(-1) ?? ''
    return { ok: false, why: said === '' ? `git ended with exit code ${end.code}` : said }
  }
}
