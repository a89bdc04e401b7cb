import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { readPlainText } from './plain-file.ts'

// Whose memory and sessions a folder shares: all worktrees of a repository share those of the main one. Git's files are read by
// hand; no git is needed.

/** Folders from a working folder up to the root; more than any real path has. */
const DEPTH_MAX = 256

/** The main worktree of the repository that the folder lies in, else the folder itself; as a real path. */
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
 * A linked worktree's git folder names the common one, and names the worktree in turn. Without that answer anybody's `.git` file
 * could claim to belong to another project.
 */
async function mainOfLinked(folder: string, gitFolder: string): Promise<string | undefined> {
  const common = await pointer(join(gitFolder, 'commondir'))
  const back = await pointer(join(gitFolder, 'gitdir'))
  if (common === undefined || back === undefined) return undefined
  const [realCommon, realBack, realGit] = await Promise.all([common, back, gitFolder].map(realOf))
  if (realCommon === undefined || realGit === undefined || realBack !== join(folder, '.git')) return undefined
  // Where git puts it, and nowhere else: whoever brings a folder of his own could name any repository as the common one.
  if (dirname(realGit) !== join(realCommon, 'worktrees')) return undefined
  // A bare repository has no main worktree: it stands for itself.
  return basename(realCommon) === '.git' ? dirname(realCommon) : realCommon
}

/** The path that a file holds after a mark, relative to the folder of the file. */
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
