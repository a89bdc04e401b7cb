import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

import { OUTSIDE_SECRET, type EvilRepository } from './evil-repository.ts'

// What evil repositories are made of.

const AS = ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'commit.gpgSign=false']

export function git(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', folder, ...AS, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

let made: Made | undefined

interface Made {
  readonly folders: readonly string[]
  readonly files: readonly (readonly [path: string, bytes: Buffer])[]
}

/** A commit, and a change on top of it whose size and time say that it must be compared. Git makes it once; then it is written as git made it. */
export function plain(folder: string): void {
  made ??= makePlain()
  for (const path of made.folders) mkdirSync(join(folder, path), { recursive: true })
  for (const [path, bytes] of made.files) writeFileSync(join(folder, path), bytes)
  writeFileSync(join(folder, 'a.txt'), 'alpha two\n')
}

function makePlain(): Made {
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-plain-'))
  try {
    // Without the samples of hooks: nothing runs them.
    execFileSync('git', ['init', '-q', '-b', 'main', '--template=', folder])
    for (const name of ['sub', '.git/hooks']) mkdirSync(join(folder, name))
    writeFileSync(join(folder, 'a.txt'), 'alpha\n')
    writeFileSync(join(folder, 'sub', 'b.txt'), 'beta\n')
    git(folder, 'add', '.')
    git(folder, 'commit', '-qm', 'one')
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => ({
      path: relative(folder, join(entry.parentPath, entry.name)),
      isFolder: entry.isDirectory(),
    }))
    const [folders, files] = [true, false].map((isFolder) =>
      entries.filter((entry) => entry.isFolder === isFolder).map(({ path }) => path),
    ) as [string[], string[]]
    return { folders, files: files.map((path) => [path, readFileSync(join(folder, path))]) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function configured(
  text: (script: string) => string,
  more?: (folder: string) => void,
): EvilRepository['build'] {
  return (folder, script) => {
    plain(folder)
    more?.(folder)
    appendFileSync(join(folder, '.git', 'config'), text(script))
  }
}

export const attributes =
  (line: string) =>
  (folder: string): void =>
    writeFileSync(join(folder, '.gitattributes'), `${line}\n`)

/** A repository elsewhere in the folder whose configuration is the evil one. */
export function evilAt(folder: string, name: string, script: string): string {
  const path = join(folder, name)
  mkdirSync(path)
  plain(path)
  appendFileSync(join(path, '.git', 'config'), monitor(script))
  return path
}

export const monitor = (script: string): string => `[core]\n\tfsmonitor = ${script}\n`

/** Its own folder is the repository: no `.git`. */
export function bare(folder: string, script: string): void {
  plain(folder)
  for (const name of ['HEAD', 'config', 'objects', 'refs', 'index'])
    renameSync(join(folder, '.git', name), join(folder, name))
  rmSync(join(folder, '.git'), { recursive: true })
  appendFileSync(join(folder, 'config'), `\tbare = false\n\tworktree = .\n${monitor(script)}`)
}

export function signed(folder: string): void {
  const tree = git(folder, 'rev-parse', 'HEAD^{tree}').trim()
  const text = `tree ${tree}\nauthor t <t@t> 1700000000 +0000\ncommitter t <t@t> 1700000000 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n`
  const commit = execFileSync('git', ['-C', folder, 'hash-object', '-t', 'commit', '-w', '--stdin'], {
    input: text,
    encoding: 'utf8',
  })
  git(folder, 'update-ref', 'refs/heads/main', commit.trim())
}

/** An object is missing, and a remote promises it. */
export function promised(remote: (script: string) => string): EvilRepository['build'] {
  return (folder, script) => {
    plain(folder)
    const blob = git(folder, 'rev-parse', 'HEAD:a.txt').trim()
    rmSync(join(folder, '.git', 'objects', blob.slice(0, 2), blob.slice(2)), { force: true })
    const text = `[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\tpromisor = true\n${remote(script)}`
    appendFileSync(join(folder, '.git', 'config'), text)
  }
}

/** A repository beside the folder, with a secret in its history. */
export function privateAt(folder: string): string {
  const other = join(folder, '..', 'outside', 'other')
  execFileSync('git', ['init', '-q', '-b', 'main', other])
  writeFileSync(join(other, 'secret.txt'), `${OUTSIDE_SECRET}\n`)
  git(other, 'add', '.')
  git(other, 'commit', '-qm', 'secret')
  return other
}
