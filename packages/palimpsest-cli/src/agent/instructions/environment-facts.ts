import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { findGitRisk } from '../permissions/find-git-risk.ts'
import type { ChildEnvironment } from '../process/child-environment.ts'
import { outputOf } from '../process/start-process.ts'

// Where and when a conversation begins. It goes into the first user message and stays as it was: it is history, not a display.

export interface EnvironmentFacts {
  /** YYYY-MM-DD, local. */
  readonly date: string
  readonly platform: string
  readonly cwd: string
  readonly additionalFolders: readonly string[]
  readonly git?: GitFacts
}

export interface GitFacts {
  readonly branch: string
  /** `git status --short`, bounded. Undefined where git was not asked: its configuration here may run programs. */
  readonly status?: string
  readonly commits?: string
}

export interface EnvironmentOptions {
  readonly cwd: string
  readonly additionalFolders: readonly string[]
  readonly now: number
  readonly platform: string
  readonly isTrusted: boolean
  /** For git. */
  readonly env: ChildEnvironment
}

const GIT_MS_MAX = 3000
const GIT_BYTES_MAX = 1024 * 1024
const STATUS_LINES_MAX = 40
const LINE_CHARS_MAX = 200
const COMMITS = 5

export async function findEnvironment(options: EnvironmentOptions): Promise<EnvironmentFacts> {
  const { cwd, additionalFolders, now, platform } = options
  const git = await findGit(options)
  return { date: toDate(now), platform, cwd, additionalFolders, ...(git === undefined ? {} : { git }) }
}

function toDate(now: number): string {
  const date = new Date(now)
  const two = (part: number): string => String(part).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

async function findGit({ cwd, env, isTrusted }: EnvironmentOptions): Promise<GitFacts | undefined> {
  if (!isTrusted && (await findGitRisk(cwd)) !== undefined) return branchByHand(cwd)
  const git = (...args: string[]): Promise<string | undefined> => runGit(args, cwd, env)
  const branch =
    (await git('symbolic-ref', '--short', '-q', 'HEAD')) ?? (await git('rev-parse', '--short', 'HEAD'))
  if (branch === undefined) return undefined
  const [status, commits] = await Promise.all([
    git('status', '--short', '--untracked-files=normal'),
    git('log', '--oneline', '--no-decorate', '--no-show-signature', `-${COMMITS}`),
  ])
  return {
    branch,
    ...(status === undefined ? {} : { status: bounded(status, STATUS_LINES_MAX) }),
    ...(commits === undefined ? {} : { commits: bounded(commits, COMMITS) }),
  }
}

async function branchByHand(cwd: string): Promise<GitFacts | undefined> {
  const head = await readFile(join(cwd, '.git', 'HEAD'), 'utf8').catch(() => '')
  const branch = /^ref: refs\/heads\/(\S{1,200})$/m.exec(head)?.[1]
  return branch === undefined ? undefined : { branch }
}

/** Undefined where git is missing, fails, or takes too long: nobody waits for a status. */
async function runGit(
  args: readonly string[],
  cwd: string,
  env: EnvironmentOptions['env'],
): Promise<string | undefined> {
  const all = ['--no-pager', '-c', 'core.fsmonitor=false', ...args]
  const output = await outputOf(
    { program: 'git', args: all, cwd, env },
    { msMax: GIT_MS_MAX, bytesMax: GIT_BYTES_MAX },
  )
  return output?.replace(/\n$/, '')
}

function bounded(text: string, linesMax: number): string {
  const lines = text === '' ? [] : text.split('\n')
  const shown = lines.slice(0, linesMax).map((line) => line.slice(0, LINE_CHARS_MAX))
  const left = lines.length - shown.length
  return [...shown, ...(left > 0 ? [`… and ${left} more`] : [])].join('\n')
}
