import { lstat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'

import { readRegular } from '../files/open-regular.ts'
import { isInside, realPathOf } from '../paths/real-path.ts'

// Files that run something by themselves: when somebody enters a folder, opens it in an editor, calls git, logs in, or pushes. They are
// never written unasked. Not among them is what runs when somebody builds, tests or installs (a Makefile, package.json, the sources): all
// code does, and changing code is what `accept-edits` is for.

/** Names, in small letters, of files and of folders with all that is in them. */
const NAMES = new Set(
  [
    // Repositories, and what git is told by them.
    '.git .gitmodules .gitattributes .gitconfig .githooks .git-hooks githooks',
    // Programs that run around commits.
    '.husky .huskyrc lefthook.yml lefthook.yaml lefthook.toml .lefthook .lefthook.yml .lefthook-local.yml lefthook-local.yml',
    '.pre-commit-config.yaml .pre-commit-hooks.yaml .overcommit.yml .lintstagedrc .lintstagedrc.json .lintstagedrc.js .lintstagedrc.yml',
    // Settings of agents: ours, and others.
    '.palimpsest .claude .codex .cursor .gemini .windsurf .continue .mcp.json mcp.json',
    // Editors and their tasks.
    '.vscode .idea .vs .fleet .zed .devcontainer .devcontainer.json .gitpod.yml .gitpod.dockerfile .replit .codesandbox',
    '.vimrc .gvimrc .exrc .nvimrc .nvim.lua .vim .emacs .emacs.d .dir-locals.el',
    // Shells and other programs at their start.
    '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc',
    '.tcshrc .login .logout .inputrc .xinitrc .xprofile .xsession .pam_environment .tmux.conf .screenrc config.fish .gdbinit .lldbinit',
    '.pythonrc .pythonrc.py .irbrc .pryrc .rprofile .renviron .curlrc .wgetrc .netrc .ssh .gnupg authorized_keys launchagents',
    // Folders that set up an environment when they are entered.
    '.envrc .direnvrc mise.toml .mise.toml mise.local.toml .mise .mise.local.toml rust-toolchain rust-toolchain.toml devbox.json',
    // Package managers and builders that run what their configuration names, whatever they are called for.
    '.npmrc .yarnrc .yarnrc.yml .yarn .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs .pnpmfile.mjs pnpmfile.js bunfig.toml .cargo .bundle .gemrc',
    '.mvn .gradle init.gradle pip.conf .condarc nuget.config .terraformrc',
    // Machines that build what is pushed.
    '.gitlab-ci.yml .gitlab .circleci .travis.yml .buildkite .teamcity .drone.yml .woodpecker.yml .woodpecker .forgejo .gitea',
    'jenkinsfile appveyor.yml .appveyor.yml azure-pipelines.yml bitbucket-pipelines.yml cloudbuild.yaml cloudbuild.yml buildspec.yml',
    'circle.yml codefresh.yml wercker.yml .semaphore .cirrus.yml netlify.toml vercel.json',
  ].flatMap((line) => line.split(' ')),
)
/** Files alone; a folder may be called so. With them any folder is a repository, or part of one. */
const FILES = new Set(['head', 'commondir', 'gitdir', 'packed-refs'])
const ENDINGS = /\.(code-workspace|sublime-project)$/
/** Two names together. */
const PAIRS =
  /(^|\/)(\.github\/(workflows|actions)|\.config\/(fish|autostart|systemd|git|direnv|mise|nvim)|\.local\/bin)(\/|$)/

/** Takes an absolute path; names count below the folder that is worked in. */
export function isConfiguration(path: string, folders: readonly string[]): boolean {
  const root = folders.find((folder) => isInside(folder, path))
  const parts = (root === undefined ? path : relative(root, path)).split(sep).map(plainName)
  const last = parts.at(-1) ?? ''
  return (
    parts.some((part) => NAMES.has(part)) ||
    FILES.has(last) ||
    ENDINGS.test(last) ||
    PAIRS.test(parts.join('/'))
  )
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

const CONFIG_BYTES_MAX = 256 * 1024

/** Folders of hooks, and files with more configuration, that the repository of a working folder names itself. Takes a real path. */
export async function isNamedByGit(path: string, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) {
    const config = await readRegular(join(folder, '.git', 'config'), CONFIG_BYTES_MAX).then(
      ({ bytes }) => bytes.toString('utf8'),
      () => '',
    )
    for (const line of config.split('\n')) {
      const [key = '', ...rest] = line.split('=')
      const value = rest.join('=').trim().replaceAll('"', '')
      const name = key.trim().toLowerCase()
      // Hooks are named from the working folder, included files from where the configuration lies.
      const base = name === 'hookspath' ? folder : name === 'path' ? join(folder, '.git') : undefined
      if (base !== undefined && value !== '' && isInside(await realPathOf(`${base}/${value}`), path))
        return true
    }
  }
  return false
}

/** A folder with a HEAD in it may be a repository for git, or become one with the next file. Takes a real path. */
export async function liesInRepository(path: string, folders: readonly string[]): Promise<boolean> {
  const root = folders.find((folder) => isInside(folder, path))
  if (root === undefined) return false
  for (let at = dirname(path); isInside(root, at); at = dirname(at)) {
    const head = await lstat(join(at, 'HEAD')).catch(() => undefined)
    if (head !== undefined && !head.isDirectory()) return true
    if (at === dirname(at)) break
  }
  return false
}
