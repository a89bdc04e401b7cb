import { dirname, join } from 'node:path'

import { readRegular } from '../files/open-regular.ts'
import type { Access } from '../paths/access.ts'
import { gitPlaces } from '../permissions/git-places.ts'
import { gitConcern } from '../permissions/unasked-way.ts'
import { withVariables, type ChildEnvironment } from '../process/child-environment.ts'
import { gitEnvironment } from '../process/git-environment.ts'
import { outputOf, type ProcessStart } from '../process/start-process.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'

// Where and when a conversation begins. It goes into the first user message and stays unchanged: it is history, not a display.

export interface EnvironmentFacts {
  /** YYYY-MM-DD, local. */
  readonly date: string
  readonly platform: string
  readonly cwd: string
  readonly additionalFolders: readonly string[]
  readonly git?: GitFacts | undefined
}

export interface GitFacts {
  readonly branch: string
  /** `git status --short`, bounded. Undefined if git did not run, since its configuration here may run programs. */
  readonly status?: string | undefined
  readonly commits?: string | undefined
}

export interface EnvironmentOptions {
  readonly cwd: string
  readonly additionalFolders: readonly string[]
  readonly now: number
  readonly platform: string
  readonly isTrusted: boolean
  readonly access: Access
  readonly sandbox: Sandbox
  /** For programs that run unasked outside the sandbox. */
  readonly env: ChildEnvironment
}

const GIT_MS_MAX = 3000
const GIT_BYTES_MAX = 1024 * 1024
const STATUS_LINES_MAX = 40
const LINE_CHARS_MAX = 200
const COMMITS = 5
const HEAD_BYTES_MAX = 1024

export async function findEnvironment(options: EnvironmentOptions): Promise<EnvironmentFacts> {
  const { cwd, additionalFolders, now, platform } = options
  const git = await findGit(options)
  return { date: toDate(now), platform, cwd, additionalFolders, git }
}

function toDate(now: number): string {
  const date = new Date(now)
  const two = (part: number): string => String(part).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

type RunGit = (...args: readonly string[]) => Promise<string | undefined>

async function findGit(options: EnvironmentOptions): Promise<GitFacts | undefined> {
  const places = await gitPlaces(options.access.cwd, options.access)
  // Without a repository, no process is started.
  if (places.ok && !places.isFound) return undefined
  const git = places.ok ? await gitOf(options, places.shown) : undefined
  if (git === undefined) return branchByHand(options.cwd)
  const branch =
    (await git('symbolic-ref', '--short', '-q', 'HEAD')) ?? (await git('rev-parse', '--short', 'HEAD'))
  if (branch === undefined) return undefined
  const [status, commits] = await Promise.all([
    git('status', '--short', '--untracked-files=normal'),
    git('log', '--oneline', '--no-decorate', '--no-show-signature', `-${COMMITS}`),
  ])
  return {
    branch,
    status: status === undefined ? undefined : bounded(status, STATUS_LINES_MAX),
    commits: commits === undefined ? undefined : bounded(commits, COMMITS),
  }
}

/**
 * Runs git in the sandbox. Without a sandbox, it runs only in a trusted folder whose repository runs nothing and contains nothing from
 * outside the work. Undefined: git must not run.
 */
async function gitOf(options: EnvironmentOptions, shown: readonly string[]): Promise<RunGit | undefined> {
  const { cwd, access, sandbox, env, isTrusted } = options
  if ((await sandbox.problem()) === undefined) {
    return async (...args) => {
      const inside = { program: 'git', args: ['--no-pager', ...args], cwd: access.cwd, shown }
      const enclosed = await sandbox.enclose(inside)
      return enclosed.ok ? await printed(enclosed.start) : undefined
    }
  }
  if ((await gitConcern(cwd, { access, isTrusted })) !== undefined) return undefined
  const outside = withVariables(env, gitEnvironment('outside'))
  return async (...args) =>
    await printed({ program: 'git', args: ['--no-pager', ...args], cwd, env: outside })
}

/** Folders from a working folder up to the root; more than any real path has. */
const DEPTH_MAX = 256

/** The branch that HEAD names, here or in a folder above. Runs nothing. */
async function branchByHand(cwd: string): Promise<GitFacts | undefined> {
  let at = cwd
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const head = await smallText(join(at, '.git', 'HEAD'))
    const branch = /^ref: refs\/heads\/(\S{1,200})$/m.exec(head)?.[1]
    if (branch !== undefined) return { branch }
    if (dirname(at) === at) return undefined
    at = dirname(at)
  }
  return undefined
}

async function smallText(path: string): Promise<string> {
  return await readRegular(path, HEAD_BYTES_MAX).then(
    ({ bytes }) => bytes.toString('utf8'),
    () => '',
  )
}

/** Undefined if git is missing, fails or takes too long: nobody waits for a status. */
async function printed(start: ProcessStart): Promise<string | undefined> {
  const output = await outputOf(start, { msMax: GIT_MS_MAX, bytesMax: GIT_BYTES_MAX })
  return output?.replace(/\n$/, '')
}

function bounded(text: string, linesMax: number): string {
  const lines = text === '' ? [] : text.split('\n')
  const shown = lines.slice(0, linesMax).map((line) => line.slice(0, LINE_CHARS_MAX))
  const left = lines.length - shown.length
  return [...shown, ...(left > 0 ? [`… and ${left} more`] : [])].join('\n')
}
