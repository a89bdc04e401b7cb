import { setTimeout as sleep } from 'node:timers/promises'

import { findGitRisk } from '../agent/permissions/find-git-risk.ts'
import type { ChildEnvironment } from '../agent/process/child-environment.ts'
import { runProcess } from '../agent/process/start-process.ts'
import { gitIn, type GitRan } from '../agents/worktree.ts'
import { findInTheWay, partsOf } from './merge-guard.ts'

// Handles finished work without a model: commits it on the teammate's branch, and merges that commit where the leader works. Uncommitted
// changes of the user are never touched: a merge that would need to is refused, and the branch waits.

export interface GitUser {
  readonly name: string
  readonly email: string
  /** The user's global ignore file. */
  readonly excludesFile?: string | undefined
}

/**
 * Who commits here, according to the user's git settings; all other git calls run without those. Cached by folder and environment: the
 * answer stays the same while a team works, and each task would ask three times.
 */
export async function findGitUser(cwd: string, env: ChildEnvironment): Promise<GitUser> {
  const known = USERS.get(env) ?? new Map<string, Promise<GitUser>>()
  USERS.set(env, known)
  const found = known.get(cwd) ?? askForUser(cwd, env)
  known.set(cwd, found)
  return await found
}

const USERS = new WeakMap<ChildEnvironment, Map<string, Promise<GitUser>>>()

async function askForUser(cwd: string, env: ChildEnvironment): Promise<GitUser> {
  const setting = async (...args: readonly string[]): Promise<string | undefined> => {
    const start = { program: 'git', args: ['config', '--get', ...args], cwd, env }
    const end = await runProcess(start, { msMax: ASK_MS_MAX, bytesMax: ASK_BYTES_MAX })
    return end.kind === 'exited' && end.code === 0 ? end.stdout.trim() || undefined : undefined
  }
  const login = env['USER'] ?? env['LOGNAME'] ?? 'palimpsest'
  const name = (await setting('user.name')) ?? login
  const email = (await setting('user.email')) ?? `${login}@localhost`
  return { name, email, excludesFile: await setting('--path', 'core.excludesFile') }
}

const ASK_MS_MAX = 60_000
const ASK_BYTES_MAX = 64 * 1024

export type Committed =
  /** The commit that the branch is at now. */
  { readonly ok: true; readonly head: string } | { readonly ok: false; readonly why: string }

/** Commits all changes in a worktree; makes no commit if there are none. */
export async function commitWork(
  path: string,
  subject: string,
  user: GitUser,
  env: ChildEnvironment,
): Promise<Committed> {
  const risk = await findGitRisk(path, { isForWorktree: true })
  if (risk !== undefined) return { ok: false, why: risk }
  const ignoring = user.excludesFile === undefined ? [] : ['-c', `core.excludesFile=${user.excludesFile}`]
  const git = gitIn(path, env, asUser(user))
  const head = async (): Promise<Committed> => {
    const at = await git('rev-parse', '--verify', 'HEAD')
    return at.ok ? { ok: true, head: at.text.trim() } : at
  }
  const status = await git(...ignoring, 'status', '--porcelain', '-z', '--untracked-files=normal')
  if (!status.ok) return status
  if (status.text === '') return await head()
  const steps = [
    [...ignoring, 'add', '--all'],
    ['commit', '--quiet', '--no-verify', '--no-gpg-sign', '--cleanup=whitespace', '-m', asArgument(subject)],
  ]
  for (const step of steps) {
    const ran = await git(...step)
    if (!ran.ok) return ran
  }
  return await head()
}

/** No program accepts an argument with a zero byte. */
function asArgument(text: string): string {
  return text.replaceAll('\0', ' ')
}

function asUser({ name, email }: GitUser): { readonly [name: string]: string } {
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  }
}

export interface MergeWish {
  readonly commit: string
  readonly branch: string
  /** Subject of the merge commit. */
  readonly subject: string
  /** No merge commit if none is needed. */
  readonly isShort?: boolean
}

export type Merged =
  /** By this call, or by one before it whose process died before it could say so. */
  | { readonly kind: 'merged'; readonly head: string }
  /** The commit is here already, and was not merged for this work. */
  | { readonly kind: 'nothing' }
  /** Both sides changed these files. Nothing was changed here. */
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  /** The user has changes of their own there, or is in the middle of something. Nothing was changed here. */
  | { readonly kind: 'in-the-way'; readonly files: readonly string[] }
  | { readonly kind: 'failed'; readonly why: string }

export async function mergeWork(
  cwd: string,
  { commit, branch, subject, isShort = false }: MergeWish,
  user: GitUser,
  env: ChildEnvironment,
): Promise<Merged> {
  const risk = await findGitRisk(cwd, { isForWorktree: true })
  if (risk !== undefined) return { kind: 'failed', why: risk }
  const top = await gitIn(cwd, env)('rev-parse', '--show-toplevel')
  if (!top.ok) return { kind: 'failed', why: top.why }
  const git = gitIn(top.text.trim(), env, asUser(user))
  const message = asArgument(`${subject}\n\nMerges ${branch}.`)
  if ((await git('merge-base', '--is-ancestor', commit, 'HEAD')).ok) {
    return isShort ? { kind: 'nothing' } : await findMerge(git, commit, message)
  }
  const inTheWay = await findInTheWay(git, top.text.trim(), commit)
  if (!inTheWay.ok) return { kind: 'failed', why: inTheWay.why }
  if (inTheWay.what.length > 0) return { kind: 'in-the-way', files: inTheWay.what }
  const ran = await git('merge', isShort ? '--ff' : '--no-ff', ...MERGE, '-m', message, commit)
  const head = await git('rev-parse', '--verify', 'HEAD')
  if (ran.ok && head.ok) return { kind: 'merged', head: head.text.trim() }
  return await undoMerge(git, commit, ran.ok ? 'git does not say where it stands' : ran.why)
}

/** The merge of this commit under this message, if there is one. */
async function findMerge(git: ReturnType<typeof gitIn>, commit: string, message: string): Promise<Merged> {
  const merges = await git('log', '--merges', '-z', '--format=%H %P%n%B', `${commit}..HEAD`)
  for (const merge of partsOf(merges)) {
    const [ids = '', ...lines] = merge.split('\n')
    const [head, , merged] = ids.split(' ')
    const isSame = words(lines.join('\n')) === words(message)
    if (head !== undefined && merged === commit && isSame) return { kind: 'merged', head }
  }
  return { kind: 'nothing' }
}

/** Git changes the white space of messages. */
function words(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** Only undoes a merge that began here. Another running git holds the index for a moment. */
async function undoMerge(git: ReturnType<typeof gitIn>, commit: string, why: string): Promise<Merged> {
  const conflicts = partsOf(await git('diff', '--name-only', '-z', '--diff-filter=U'))
  const begun = await git('rev-parse', '--verify', '--quiet', 'MERGE_HEAD')
  const isBegun = begun.ok && begun.text.trim() === commit
  const undone = isBegun ? await abort(git) : undefined
  if (undone?.ok === false)
    return {
      kind: 'failed',
      why: `the merge could not be undone: ${undone.why} Run "git merge --abort" before you commit`,
    }
  if (conflicts.length > 0) return { kind: 'conflict', files: conflicts }
  // The merge began and has no conflict, so the index could not be written.
  return isBegun || HELD.test(why)
    ? { kind: 'in-the-way', files: ['another git command that was running'] }
    : { kind: 'failed', why }
}

async function abort(git: ReturnType<typeof gitIn>): Promise<GitRan> {
  let ran = await git('merge', '--abort')
  for (let tries = 0; !ran.ok && tries < UNDO_TRIES; tries++) {
    await sleep(UNDO_MS)
    ran = await git('merge', '--abort')
  }
  return ran
}

const UNDO_TRIES = 60
const UNDO_MS = 500
/** The end of git's message when another process holds the index. */
const HELD = /index\.lock|remove the file manually to continue/

const MERGE = ['--no-edit', '--no-verify', '--no-gpg-sign', '--no-stat', '--quiet']
