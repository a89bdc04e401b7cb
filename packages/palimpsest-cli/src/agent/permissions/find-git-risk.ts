import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

import { readRegular } from '../files/open-regular.ts'

// A repository's own configuration can make `git status` run programs: a filter, a text converter, a program that checks signatures.
// Most of these have no switch. So before git runs unasked outside the sandbox, in a trusted folder, we check the repository, and
// anything that does not have the plainest form counts as a risk: only git knows what it makes of odd files.

/** Folders from a working folder up to the root; more than any real path has. */
const DEPTH_MAX = 256
const CONFIG_BYTES_MAX = 256 * 1024
const INDEX_BYTES_MAX = 256 * 1024 * 1024
const POINTER_BYTES_MAX = 8192

const HARMLESS_KEYS: readonly RegExp[] = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|compression|untrackedcache|preloadindex|longpaths|protecthfs|protectntfs|sparsecheckout|sparsecheckoutcone)$/,
  /^remote\..*\.(url|pushurl|fetch|push|tagopt|prune|gh-resolved|mirror|skipdefaultupdate)$/,
  /^branch\./,
  /^user\.(name|email|signingkey)$/,
  /^submodule\..*\.(url|active|update|branch|ignore)$/,
  /^(init|pull|push|fetch|gc|maintenance|rerere|rebase|merge|color|column|advice|status|log|commit|index|pack|feature|i18n|gui|apply|diff|stash|tag|worktree|transfer|receive|repack)\.[a-z]+$/,
  /^extensions\.(objectformat|worktreeconfig|refstorage|relativeworktrees|noop)$/,
  /^lfs\.(repositoryformatversion)$/,
]
const HARMFUL_KEYS =
  /^(diff\.(external|tool|guitool|orderfile)|merge\.(tool|guitool)|gc\.recentobjectshook|receive\.procreceiverefs|log\.(showsignature|mailmap)|commit\.template)$/

export interface RiskOptions {
  /** Hooks count too: set if nothing switches them off. */
  readonly withHooks?: boolean
  /** Git only adds, checks or removes a worktree. Keys that only other commands use, or that our environment overrides, do not count. */
  readonly isForWorktree?: boolean
}

const OF_OTHER_COMMANDS =
  /^(core\.(hookspath|fsmonitor|editor|pager|sshcommand|askpass)|sequence\.editor|(alias|credential|http|url|gpg)\..*)$/

/** Why git should not run here unasked. Undefined: no reason. */
export async function findGitRisk(
  folder: string,
  { withHooks = false, isForWorktree = false }: RiskOptions = {},
): Promise<string | undefined> {
  const found = await findRepository(folder)
  if (found === undefined) return undefined
  if (typeof found === 'string') return found
  for (const git of found) {
    for (const name of ['config', 'config.worktree']) {
      const key = await riskyKey(join(git, name), isForWorktree)
      if (key !== undefined) return `${join(git, name)} sets ${key}, which may run a program`
    }
    const odd = await oddEntry(git)
    if (odd !== undefined) return odd
    if (await hasSubmodules(git)) return `${git} holds submodules, whose configuration may run programs`
    if (withHooks && (await hasHooks(git))) return `${git} holds hooks, which are programs`
  }
  return undefined
}

/**
 * The repository that git would find from here: its folder and, for a linked worktree, also the common one. Undefined: none. A string:
 * why the form of the repository is not plain.
 */
async function findRepository(folder: string): Promise<readonly string[] | string | undefined> {
  let at = folder
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const git = join(at, '.git')
    const kind = await lstat(git).catch(() => undefined)
    if (kind?.isDirectory() === true) return await plainFolder(git)
    if (kind?.isFile() === true) return await linkedFolders(git)
    if (kind !== undefined) return `${git} is neither a folder nor a file`
    // To git, a folder that looks like a repository is one, even without a `.git`.
    const hasHead = (await lstat(join(at, 'HEAD')).catch(() => undefined)) !== undefined
    if (hasHead) return `${at} looks like a repository without a working folder`
    if (dirname(at) === at) return undefined
    at = dirname(at)
  }
  return undefined
}

/** Accepts only the form that `git init` and `git clone` make. With another form, git may continue its search and find another one. */
async function plainFolder(git: string): Promise<readonly string[] | string> {
  const names = await readdir(git, { withFileTypes: true }).catch(() => [])
  const is = (name: string, isFolder: boolean): boolean =>
    names.some((entry) => entry.name === name && (isFolder ? entry.isDirectory() : entry.isFile()))
  if (!is('HEAD', false) || !is('objects', true) || !is('refs', true)) return `${git} is no plain repository`
  if (names.some(({ name }) => name === 'commondir' || name === 'gitdir'))
    return `${git} leads to another repository`
  return [git]
}

/** Accepts the files exactly as `git worktree add` writes them. */
async function linkedFolders(file: string): Promise<readonly string[] | string> {
  const own = await pointedAt(file, /^gitdir: (\S(?:[^\n\r\0]*\S)?)\n?$/)
  const common = own && (await pointedAt(join(own, 'commondir'), /^(\S(?:[^\n\r\0]*\S)?)\n?$/))
  if (own === undefined || common === undefined) return `${file} leads to another repository`
  if (basename(dirname(own)) !== 'worktrees' || dirname(dirname(own)) !== common)
    return `${file} leads to another repository`
  const main = await plainFolder(common)
  return typeof main === 'string' ? main : [own, ...main]
}

async function pointedAt(file: string, form: RegExp): Promise<string | undefined> {
  const path = form.exec((await textOf(file, POINTER_BYTES_MAX)) ?? '')?.[1]
  return path === undefined ? undefined : resolve(dirname(file), path)
}

/** Undefined if it is not a plain file: reading a pipe would wait. */
async function textOf(path: string, bytesMax: number): Promise<string | undefined> {
  return await readRegular(path, bytesMax).then(
    ({ bytes }) => bytes.toString('utf8'),
    () => undefined,
  )
}

async function riskyKey(path: string, isForWorktree: boolean): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return undefined
  const text = found.isFile() ? await textOf(path, CONFIG_BYTES_MAX) : undefined
  if (text === undefined) return 'something that cannot be read'
  return configKeys(text)
    .filter((key) => !(isForWorktree && OF_OTHER_COMMANDS.test(key)))
    .find((key) => HARMFUL_KEYS.test(key) || !HARMLESS_KEYS.some((pattern) => pattern.test(key)))
}

const COMMENT = /^[ \t]*[#;]/
const HEADER = /^[ \t]*\[([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)(?: "((?:[^"\\]|\\["\\])*)")?\][ \t]*$/
const ENTRY = /^[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[^\r]*)?$/

/**
 * Keys as `section.name` or `section.sub.name`, in lower case except for the middle. A line in any other form than git itself writes, such
 * as one that continues on the next line, becomes a key that no list contains.
 */
export function configKeys(text: string): readonly string[] {
  const keys: string[] = []
  let section = ''
  for (const line of text.split(/\r?\n/)) {
    const header = HEADER.exec(line)
    const name = ENTRY.exec(line)?.[1]
    if (line.endsWith('\\') || /[\0\r\uFEFF]/.test(line)) keys.push(`unreadable: ${line.slice(0, 40)}`)
    else if (line.trim() === '' || COMMENT.test(line)) continue
    else if (header !== null)
      section = [header[1]?.toLowerCase() ?? '', ...(header[2] === undefined ? [] : [header[2]])].join('.')
    else
      keys.push(name === undefined ? `unreadable: ${line.slice(0, 40)}` : `${section}.${name.toLowerCase()}`)
  }
  return keys
}

/** The mode of a submodule's entry (160000 octal) in the index. The same bytes rarely occur elsewhere; then the user is asked. */
const SUBMODULE_MODE = Buffer.from([0x00, 0x00, 0xe0, 0x00])

async function hasSubmodules(git: string): Promise<boolean> {
  const names = await readdir(git).catch(() => [])
  if (names.some((name) => name === 'modules' || name.startsWith('sharedindex.'))) return true
  const index = join(git, 'index')
  const found = await lstat(index).catch(() => undefined)
  if (found === undefined) return false
  const read = await readRegular(index, INDEX_BYTES_MAX).catch(() => undefined)
  return read === undefined || read.bytes.includes(SUBMODULE_MODE)
}

/** Entries in one repository; with more, the user is asked. */
const ENTRIES_MAX = 100_000
/** Folders where git reads nothing, or where we tell it not to. */
const NOT_READ = new Set(['hooks', 'lfs', 'annex'])

/**
 * Finds a link, which git follows wherever it leads and whose content it may show; or a list of other repositories, whose objects git
 * treats as its own.
 */
async function oddEntry(git: string): Promise<string | undefined> {
  const waiting = [git]
  let left = ENTRIES_MAX
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name)
      if (left-- === 0) return `${git} holds very many files`
      if (folder === git && NOT_READ.has(entry.name)) continue
      if (entry.isDirectory()) waiting.push(path)
      else if (!entry.isFile()) return `${path} is neither a folder nor a file`
      else if (/\/objects\/info\/(http-)?alternates$/.test(path)) return `${path} leads to other repositories`
    }
  }
  return undefined
}

async function hasHooks(git: string): Promise<boolean> {
  const names = await readdir(join(git, 'hooks')).catch(() => [])
  return names.some((name) => !name.endsWith('.sample'))
}
