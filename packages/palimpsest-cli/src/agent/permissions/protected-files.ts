import { lstat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'

import { isInside } from '../paths/real-path.ts'

// Files that run something by themselves: when somebody enters a folder, opens it in an editor, calls git, logs in, or pushes. They are
// never written unasked. Not among them is what runs when somebody builds, tests or installs (a Makefile, package.json, the sources): all
// code does, and changing code is what `accept-edits` is for.

/**
 * A name that begins with a dot is what programs read by themselves: shells, editors, debuggers, databases, agents, version control. No
 * list of those is ever complete, so all of them are protected but for these, which hold names, versions or words.
 */
const HARMLESS =
  /^\.(\w+ignore|ignore|gitkeep|keep|mailmap|editorconfig|nvmrc|node-version|nojekyll|well-known|changeset|changes|worktrees|storybook|vitepress|vuepress)$|^\.env(\.\w+)*$/
/** Of GitHub's folder, where machines and agents find what they run. */
const HARMLESS_PAIRS =
  /(^|\/)\.github(\/(issue_template|pull_request_template)(\/.*)?|\/[^/]*\.md|\/codeowners|\/funding\.yml)$/

/** Names without a dot, in small letters, of files and of folders with all that is in them. */
const NAMES = new Set(
  [
    // Hooks, settings of agents, start-up files.
    'githooks git-hooks mcp.json opencode.json crush.json config.fish authorized_keys launchagents launchdaemons sitecustomize.py',
    'usercustomize.py _vimrc _gvimrc _exrc _viminfo _darcs',
    // Folders that set up an environment when they are entered.
    'mise.toml mise.local.toml rust-toolchain rust-toolchain.toml devbox.json devenv.nix devenv.yaml flake.nix shell.nix',
    // What agents are told, and what they load with it.
    'agents.md agents.override.md claude.md claude.local.md gemini.md copilot-instructions.md',
    // Package managers and builders that run what their configuration names, whatever they are called for.
    'pnpmfile.js bunfig.toml init.gradle pip.conf pip.ini nuget.config',
    // Machines that build what is pushed.
    'jenkinsfile circle.yml netlify.toml vercel.json screwdriver.yaml zuul.d dagger.json codemagic.yaml bitrise.yml',
  ].flatMap((line) => line.split(' ')),
)
/** However they end, and whatever they are one of several of: `lefthook.yml`, `azure-pipelines-nightly.yaml`. */
const FAMILIES =
  /^(lefthook|lint-?staged|simple-git-hooks|pre-commit|azure-pipelines?|bitbucket-pipelines|gitlab-ci|cloudbuild|buildspec|appveyor|codefresh|wercker|zuul|jenkinsfile)[.-].*$|^pre-commit$|[.-](gitlab-ci|azure-pipelines)\.ya?ml$|(^|[._])profile\.(ps1|d)$/
/** Files alone; a folder may be called so. With them any folder is a repository, or part of one. */
const FILES = new Set(['head', 'commondir', 'gitdir', 'packed-refs'])
const ENDINGS = /\.(code-workspace|sublime-project|pth)$/
/** What the system runs, whoever works there; and where somebody works in the root, all that is not somebody's own. */
const SYSTEM = /^\/(private\/)?(etc|boot|run|proc|sys|dev|var\/(spool|run))(\/|$)/
const BELOW_ROOT = /^\/(usr|bin|sbin|lib\w*|var|opt|nix|gnu|snap|private|System|Library|Applications)(\/|$)/

/** Takes an absolute path; names count below the folder that is worked in. */
export function isConfiguration(path: string, folders: readonly string[]): boolean {
  const root = folders.find((folder) => isInside(folder, path))
  const parts = (root === undefined ? path : relative(root, path)).split(sep).map(plainName)
  const last = parts.at(-1) ?? ''
  return (
    SYSTEM.test(path) ||
    (root === sep && BELOW_ROOT.test(path)) ||
    parts.some((part) => NAMES.has(part) || FAMILIES.test(part) || isDotted(part, parts)) ||
    FILES.has(last) ||
    ENDINGS.test(last)
  )
}

/** The same of a single name, whatever lies around it. */
export function decidesByName(name: string, isFolder: boolean): boolean {
  const plain = plainName(name)
  if (NAMES.has(plain) || FAMILIES.test(plain) || isDotted(plain, [plain])) return true
  return !isFolder && (FILES.has(plain) || ENDINGS.test(plain))
}

/** With it, a folder is a repository; a file of the second name makes it one together with others. */
export function isRepositoryName(name: string): '.git' | 'HEAD' | undefined {
  const plain = plainName(name)
  return plain === '.git' ? '.git' : plain === 'head' ? 'HEAD' : undefined
}

/** What belongs to the system wherever somebody works. */
export function isSystemFolder(path: string): boolean {
  return SYSTEM.test(path) || BELOW_ROOT.test(path)
}

function isDotted(part: string, parts: readonly string[]): boolean {
  if (!part.startsWith('.') || /^\.+$/.test(part) || HARMLESS.test(part)) return false
  return part !== '.github' || !HARMLESS_PAIRS.test(parts.join('/'))
}

/** Characters that some disks pass over, and what others cut off. */
const PASSED_OVER = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** As the disk that is least exact would understand it. */
function plainName(name: string): string {
  const plain = name
    .normalize()
    .replaceAll(PASSED_OVER, '')
    .toLowerCase()
    .replace(/(?<![. ])[. ]+$/, '')
  if (plain === '') return name
  return /^git~\d$/.test(plain) ? '.git' : plain
}

/**
 * A folder with a HEAD in it may be a repository for git, or become one with the next file. Above the folder that is worked in, which may
 * itself lie in a repository's own, the first `.git` ends the search: from there on git would not look further. Takes a real path.
 */
export async function liesInRepository(path: string, folders: readonly string[]): Promise<boolean> {
  const root = folders.find((folder) => isInside(folder, path))
  if (root === undefined) return false
  for (let at = dirname(path); ; at = dirname(at)) {
    const head = await lstat(join(at, 'HEAD')).catch(() => undefined)
    if (head !== undefined && !head.isDirectory()) return true
    if (at === dirname(at)) return false
    if (isInside(at, root) && (await exists(join(at, '.git')))) return false
  }
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  )
}
