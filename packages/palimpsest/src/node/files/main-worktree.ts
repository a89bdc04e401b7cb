import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { readPlainText } from './plain-file.ts'

// Which project a folder belongs to: all worktrees of a repository share the memory and sessions of the main one. Reads git's files
// directly; git need not be installed.

/** Most folders from a working folder up to the root; no real path has more. */
const DEPTH_MAX = 256

/** The main worktree of the folder's repository, or the folder itself if it is in none; as a real path. */
export async function mainWorktree(folder: string): Promise<string> {
  const start = await realpath(folder).catch(() => resolve(folder))
  let at = start
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const found = await worktreeAt(at)
    if (found !== undefined) return found
    if (dirname(at) === at) break
    at = dirname(at)
  }
  return start
}

async function worktreeAt(folder: string): Promise<string | undefined> {
  const git = join(folder, '.git')
  const kind = await stat(git).catch(() => undefined)
  if (kind?.isDirectory()) return (await isFile(join(git, 'HEAD'))) ? folder : undefined
  if (!kind?.isFile()) return undefined
  const gitFolder = await pointer(git, 'gitdir:')
  if (gitFolder === undefined) return undefined
  return (await mainOfLinked(folder, gitFolder)) ?? folder
}

/**
 * The git folder of a linked worktree names the common one, and also names the worktree. Without that second link, any `.git` file could
 * claim to belong to another project.
 */
async function mainOfLinked(folder: string, gitFolder: string): Promise<string | undefined> {
  const common = await pointer(join(gitFolder, 'commondir'))
  const back = await pointer(join(gitFolder, 'gitdir'))
  if (common === undefined || back === undefined) return undefined
  const [realCommon, realBack, realGit] = await Promise.all([common, back, gitFolder].map(realOf))
  if (realCommon === undefined || realGit === undefined || realBack !== join(folder, '.git')) return undefined
  // Only where git itself puts it: otherwise a folder from someone else could name any repository as its common one.
  if (dirname(realGit) !== join(realCommon, 'worktrees')) return undefined
  // A bare repository has no main worktree, so it is its own project.
  return basename(realCommon) === '.git' ? dirname(realCommon) : realCommon
}

/** The path that a file contains after a mark, resolved relative to the file's folder. */
async function pointer(file: string, mark = ''): Promise<string | undefined> {
  const text = await readPlainText(file).catch(() => '')
  const paths = text
    .split('\n')
    .flatMap((line) => (line.startsWith(mark) ? [line.slice(mark.length).trim()] : []))
  const path = paths.find((one) => one !== '')
  return path === undefined ? undefined : resolve(dirname(file), path)
}

async function realOf(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined)
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false
}
