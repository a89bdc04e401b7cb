import { lstat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'

import { isInside } from '../paths/real-path.ts'

// Files that run something by themselves: when the user enters a folder, opens it in an editor, calls git, logs in, or pushes. They are
// never written unasked. What runs on a build, a test or an install (a Makefile, package.json, the sources) is not among them: all code
// does that, and changing code is what `accept-edits` is for.

/**
 * Names that begin with a dot belong to what programs read by themselves: shells, editors, debuggers, databases, agents, version control.
 * No list of those is ever complete, so all of them are protected except these, which contain names, versions or words.
 */
const HARMLESS =
  /^\.(\w+ignore|ignore|gitkeep|keep|mailmap|editorconfig|nvmrc|node-version|nojekyll|well-known|changeset|changes|worktrees|storybook|vitepress|vuepress)$|^\.env(\.\w+)*$/
/** Harmless parts of GitHub's folder, where machines and agents find what they run. */
const HARMLESS_PAIRS =
  /(^|\/)\.github(\/(issue_template|pull_request_template)(\/.*)?|\/[^/]*\.md|\/codeowners|\/funding\.yml)$/

/** Names without a leading dot, in lower case, of files and of folders with everything in them. */
const NAMES = new Set(
  [
    // Hooks, settings of agents, start-up files.
    'githooks git-hooks mcp.json opencode.json crush.json config.fish authorized_keys launchagents launchdaemons sitecustomize.py',
    'usercustomize.py _vimrc _gvimrc _exrc _viminfo _darcs',
    // Folders that set up an environment when a shell enters them.
    'mise.toml mise.local.toml rust-toolchain rust-toolchain.toml devbox.json devenv.nix devenv.yaml flake.nix shell.nix',
    // Instructions for agents, and what agents load with them.
    'agents.md agents.override.md claude.md claude.local.md gemini.md copilot-instructions.md',
    // Package managers and build tools that run what their configuration names, whatever the command.
    'pnpmfile.js bunfig.toml init.gradle pip.conf pip.ini nuget.config',
    // Machines that build what is pushed.
    'jenkinsfile circle.yml netlify.toml vercel.json screwdriver.yaml zuul.d dagger.json codemagic.yaml bitrise.yml',
  ].flatMap((line) => line.split(' ')),
)
/** Names with any ending or variant: `lefthook.yml`, `azure-pipelines-nightly.yaml`. */
const FAMILIES =
  /^(lefthook|lint-?staged|simple-git-hooks|pre-commit|azure-pipelines?|bitbucket-pipelines|gitlab-ci|cloudbuild|buildspec|appveyor|codefresh|wercker|zuul|jenkinsfile)[.-].*$|^pre-commit$|[.-](gitlab-ci|azure-pipelines)\.ya?ml$|(^|[._])profile\.(ps1|d)$/
/** Only files; a folder may have such a name. With these files, any folder is a repository, or part of one. */
const FILES = new Set(['head', 'commondir', 'gitdir', 'packed-refs'])
const ENDINGS = /\.(code-workspace|sublime-project|pth)$/
/** Folders whose files the system runs. If the user works in the root, everything in `BELOW_ROOT` is protected too. */
const SYSTEM = /^\/(private\/)?(etc|boot|run|proc|sys|dev|var\/(spool|run))(\/|$)/
const BELOW_ROOT = /^\/(usr|bin|sbin|lib\w*|var|opt|nix|gnu|snap|private|System|Library|Applications)(\/|$)/

/** Takes an absolute path. Inside a working folder, only the names below that folder count. */
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

/** The same for a single name, wherever it is. */
export function decidesByName(name: string, isFolder: boolean): boolean {
  const plain = plainName(name)
  if (NAMES.has(plain) || FAMILIES.test(plain) || isDotted(plain, [plain])) return true
  return !isFolder && (FILES.has(plain) || ENDINGS.test(plain))
}

/** `.git` makes its folder a repository; `HEAD` does so together with other files. */
export function isRepositoryName(name: string): '.git' | 'HEAD' | undefined {
  const plain = plainName(name)
  return plain === '.git' ? '.git' : plain === 'head' ? 'HEAD' : undefined
}

/** What belongs to the system, whatever the working folders are. */
export function isSystemFolder(path: string): boolean {
  return SYSTEM.test(path) || BELOW_ROOT.test(path)
}

function isDotted(part: string, parts: readonly string[]): boolean {
  if (!part.startsWith('.') || /^\.+$/.test(part) || HARMLESS.test(part)) return false
  return part !== '.github' || !HARMLESS_PAIRS.test(parts.join('/'))
}

/** Characters that some file systems ignore in a name. */
const PASSED_OVER = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/** The name as the least exact file system would read it. */
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
 * To git, a folder with a HEAD in it may be a repository, or become one with the next file. The search continues above the working folder,
 * which may itself be inside a git folder, up to the first `.git`: git would look no further. Takes a real path.
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
