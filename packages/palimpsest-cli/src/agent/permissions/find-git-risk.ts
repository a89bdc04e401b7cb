import { readFile, readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

// A repository's own configuration can make `git status` run programs: a file-system monitor, a filter, a text converter. A clone brings
// no such configuration, an unpacked archive may. So before git runs unasked in a folder that nobody trusted, its configuration is read,
// and whatever is not known to be harmless counts as a risk.

/** Folders from a working folder up to the root; more than any real path has. */
const DEPTH_MAX = 256
const CONFIG_BYTES_MAX = 256 * 1024
const INDEX_BYTES_MAX = 256 * 1024 * 1024

const HARMLESS_KEYS: readonly RegExp[] = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|compression|untrackedcache|preloadindex|longpaths|protecthfs|protectntfs|sparsecheckout|sparsecheckoutcone)$/,
  /^remote\..*\.(url|pushurl|fetch|push|tagopt|prune|gh-resolved|mirror|skipdefaultupdate)$/,
  /^branch\./,
  /^user\.(name|email|signingkey)$/,
  /^submodule\..*\.(url|active|update|branch|ignore)$/,
  /^(init|pull|push|fetch|gc|maintenance|rerere|rebase|merge|color|column|advice|status|log|commit|index|pack|feature|i18n|gui|apply|blame|grep|diff|stash|tag|worktree|transfer|receive|repack)\.[a-z]+$/,
  /^extensions\.(objectformat|worktreeconfig|refstorage|relativeworktrees|noop)$/,
  /^lfs\.(repositoryformatversion)$/,
]
const HARMFUL_KEYS =
  /^(diff\.external|merge\.tool|merge\.guitool|diff\.tool|diff\.guitool|gc\.recentobjectshook|receive\.procreceiverefs|log\.showsignature)$/

/** Why git should not run here unasked, or undefined. */
export async function findGitRisk(folder: string): Promise<string | undefined> {
  const repositories = await gitFolders(folder)
  for (const git of repositories) {
    for (const name of ['config', 'config.worktree']) {
      const key = await riskyKey(join(git, name))
      if (key !== undefined) return `${join(git, name)} sets ${key}, which may run a program`
    }
    if (await hasSubmodules(git)) return `${git} holds submodules, whose configuration may run programs`
  }
  return undefined
}

/** The repository that git would find from here: its folder, and for a linked worktree also the common one. */
async function gitFolders(folder: string): Promise<readonly string[]> {
  let at = folder
  for (let depth = 0; depth < DEPTH_MAX; depth++) {
    const git = join(at, '.git')
    const kind = await stat(git).catch(() => undefined)
    if (kind?.isDirectory()) return [git]
    if (kind?.isFile()) return linkedFolders(git)
    // A folder that looks like a repository without files of its own is one, for git.
    if (await isFile(join(at, 'HEAD'))) return [at]
    if (dirname(at) === at) return []
    at = dirname(at)
  }
  return []
}

async function linkedFolders(file: string): Promise<readonly string[]> {
  const path = /^gitdir:\s*(.+?)\s*$/m.exec(await readFile(file, 'utf8').catch(() => ''))?.[1]
  if (path === undefined) return []
  const own = resolve(dirname(file), path)
  const common = (await readFile(join(own, 'commondir'), 'utf8').catch(() => '')).trim()
  return common === '' ? [own] : [own, resolve(own, common)]
}

async function riskyKey(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return undefined
  if (!found.isFile() || found.size > CONFIG_BYTES_MAX) return 'something that cannot be read'
  const keys = configKeys(await readFile(path, 'utf8'))
  return keys.find((key) => HARMFUL_KEYS.test(key) || !HARMLESS_KEYS.some((pattern) => pattern.test(key)))
}

/** Keys as `section.name` or `section.sub.name`, in small letters but for the middle. What cannot be read becomes a key that nobody knows. */
export function configKeys(text: string): readonly string[] {
  const keys: string[] = []
  let section = ''
  let continues = false
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim()
    const isContinuation = continues
    continues = /(^|[^\\])(\\\\)*\\$/.test(line)
    if (isContinuation || line === '' || line.startsWith('#') || line.startsWith(';')) continue
    const header = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)$/.exec(line)
    if (header)
      section = [header[1]?.toLowerCase() ?? '', ...(header[2] === undefined ? [] : [header[2]])].join('.')
    const rest = (header ? (header[3] ?? '') : line).trim()
    if (rest === '' || rest.startsWith('#') || rest.startsWith(';')) continue
    const name = /^([A-Za-z][A-Za-z0-9-]*)\s*(=|$)/.exec(rest)?.[1]
    keys.push(name === undefined ? `unreadable: ${rest.slice(0, 40)}` : `${section}.${name.toLowerCase()}`)
  }
  return keys
}

/** The mode of a submodule's entry (160000 octal), as the index has it. Its bytes elsewhere are rare, and then somebody is asked. */
const SUBMODULE_MODE = Buffer.from([0x00, 0x00, 0xe0, 0x00])

async function hasSubmodules(git: string): Promise<boolean> {
  const names = await readdir(git).catch(() => [])
  if (names.some((name) => name === 'modules' || name.startsWith('sharedindex.'))) return true
  const index = join(git, 'index')
  const found = await stat(index).catch(() => undefined)
  if (found === undefined) return false
  if (!found.isFile() || found.size > INDEX_BYTES_MAX) return true
  return (await readFile(index)).includes(SUBMODULE_MODE)
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false
}
