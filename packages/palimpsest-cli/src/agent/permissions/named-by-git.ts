import { lstat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

import { readRegular } from '../files/open-regular.ts'
import { expandPath } from '../paths/absolute-path.ts'
import { isInside, realPathOf } from '../paths/real-path.ts'

// Files that git runs by itself because its configuration names them: hook folders, more configuration, and programs in the working
// folders that filter, compare, watch or sign.

const CONFIG_BYTES_MAX = 256 * 1024
const POINTER_BYTES_MAX = 8192
/** Configuration can include configuration; git itself stops at ten. */
const INCLUDES_MAX = 32

/** Takes a real path, and the folder that `~` stands for. */
export async function isNamedByGit(path: string, home: string): Promise<boolean> {
  const users = [join(home, '.gitconfig'), join(home, '.config', 'git', 'config')]
  for (let tree = dirname(path); ; tree = dirname(tree)) {
    const configs = await configsOf(tree)
    if (configs.length > 0 && (await namesPath(path, { tree, home, configs: [...configs, ...users] })))
      return true
    if (tree === dirname(tree)) return false
  }
}

/** Configuration files of the repository whose working tree is this folder. Empty: there is no repository. */
async function configsOf(tree: string): Promise<readonly string[]> {
  const git = join(tree, '.git')
  // Most folders above a file have no repository: one look at `.git` replaces a look at each of its files.
  if ((await lstat(git).catch(() => undefined)) === undefined) return []
  const pointer = await textOf(git, POINTER_BYTES_MAX)
  const own = pointer === undefined ? git : resolve(tree, pointer.replace(/^gitdir:/, '').trim())
  const common = await textOf(join(own, 'commondir'), POINTER_BYTES_MAX)
  const folders = [own, ...(common === undefined ? [] : [resolve(own, common.trim())])]
  const found = folders.flatMap((folder) => ['config', 'config.worktree'].map((name) => join(folder, name)))
  const texts = await Promise.all(found.map((config) => textOf(config, CONFIG_BYTES_MAX)))
  return texts.some((text) => text !== undefined) ? found : []
}

/** Settings whose words are names, addresses and numbers; a folder may happen to be called `main` too. */
const PLAIN =
  /^(url|pushurl|fetch|push|merge|remote|branch|bare|filemode|repositoryformatversion|logallrefupdates|ignorecase|precomposeunicode|symlinks|name|email|signingkey|rebase|autocrlf|eol|safecrlf|active|update|ignore|defaultbranch|worktree|worktreeconfig|objectformat|autosetup\w*|compression|prune|tagopt|gh-resolved|vscode-\S*|gk-\S*|enabled|version)$/

/** Real paths of everything that the configuration of the repository in this folder names and that could be a file. */
export async function namedByGit(tree: string, home: string): Promise<readonly string[]> {
  const configs = await configsOf(tree)
  if (configs.length === 0) return []
  const users = [join(home, '.gitconfig'), join(home, '.config', 'git', 'config')]
  const found: string[] = []
  await namesPath(undefined, { tree, home, configs: [...configs, ...users], found })
  return found
}

interface Naming {
  /** The folder that named paths are relative to. */
  readonly tree: string
  readonly home: string
  readonly configs: readonly string[]
  /** Collects everything that is named. */
  readonly found?: string[]
}

/** An undefined path matches nothing, so the search reads every name. */
async function namesPath(path: string | undefined, { tree, home, configs, found }: Naming): Promise<boolean> {
  const waiting = [...configs]
  const known = new Set(waiting)
  for (let config = waiting.shift(); config !== undefined; config = waiting.shift()) {
    for (const { name, value, line } of entriesOf((await textOf(config, CONFIG_BYTES_MAX)) ?? '')) {
      const isInclude = name === 'path'
      const cwd = isInclude ? dirname(config) : tree
      const words = name === 'hookspath' || isInclude ? [value] : wordsOf(line)
      for (const word of words) {
        const real = await realPathOf(expandPath(word, { cwd, home })).catch(() => undefined)
        if (real !== undefined && !PLAIN.test(name)) found?.push(real)
        const isIn = (folder: string): boolean => path !== undefined && isInside(folder, path)
        if (real !== undefined && (real === path || (name === 'hookspath' && isIn(real)))) return true
        if (!isInclude || real === undefined || known.has(real) || known.size > INCLUDES_MAX) continue
        known.add(real)
        waiting.push(real)
      }
    }
  }
  return false
}

/** A value may be a line for a shell: returns its words, whatever separates them. */
function wordsOf(value: string): readonly string[] {
  return value.split(/[\s'"`;|&()<>=!\\#]+/).filter((word) => word !== '' && !word.startsWith('-'))
}

interface ConfigEntry {
  readonly name: string
  readonly value: string
  /** Everything after the `=`: what looks like a comment may be part of a quoted value. */
  readonly line: string
}

/** A line may continue on the next one, and a heading may be on the same line. */
function entriesOf(text: string): readonly ConfigEntry[] {
  return text
    .replaceAll(/\\\r?\n/g, '')
    .split('\n')
    .flatMap((line) => {
      const [key = '', ...rest] = line.split('=')
      const value = (/^[^#;]*/.exec(rest.join('=').replaceAll('"', ''))?.[0] ?? '').trim()
      const name = key.replace(/^\s*(\[[^\]]*\])+/, '')
      return value === '' ? [] : [{ name: name.trim().toLowerCase(), value, line: rest.join('=') }]
    })
}

async function textOf(path: string, bytesMax: number): Promise<string | undefined> {
  return await readRegular(path, bytesMax).then(
    ({ bytes }) => bytes.toString('utf8'),
    () => undefined,
  )
}
