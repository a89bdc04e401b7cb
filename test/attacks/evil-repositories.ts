import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

// Repositories that make git run a program of theirs, or show what lies outside: as they come out of an archive that somebody unpacked. Each is built with the real git, and a
// control shows that it does run the program when git is called without care.

export interface EvilRepository {
  readonly name: string
  /** `folder` exists and is empty; `script` leaves a mark, whatever it is called with. */
  readonly build: (folder: string, script: string) => void
  /** Lines by which git runs it; others are tried as well. */
  readonly lines?: readonly string[]
}

/** In a file beside the folder; it must never be read. */
export const OUTSIDE_SECRET = 'SECRET-OUTSIDE-7f3a'

/** Tried in every one of them. */
export const GIT_LINES: readonly string[] = [
  'git status',
  'git status --short',
  'git diff',
  'git diff HEAD',
  'git log -p -1',
  'git log --show-signature -1',
  'git log --format=%G?%h -1',
  'git log --format=%+GG -1',
  "git log --pretty='% G?' -1",
  'git log --format=%-GS -1',
  'git show HEAD',
  'git blame a.txt',
  'git grep alpha',
  'git ls-files -m',
  'git stash list',
  'git branch -a',
  'git describe --always --dirty',
  'git cat-file -p HEAD:a.txt',
  'cd sub && git status',
  'git -C sub status',
]

const AS = ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'commit.gpgSign=false']

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', folder, ...AS, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

/** A commit, and a change on top of it whose size and time say that it must be compared. */
function plain(folder: string): void {
  execFileSync('git', ['init', '-q', '-b', 'main', folder])
  mkdirSync(join(folder, 'sub'))
  writeFileSync(join(folder, 'a.txt'), 'alpha\n')
  writeFileSync(join(folder, 'sub', 'b.txt'), 'beta\n')
  git(folder, 'add', '.')
  git(folder, 'commit', '-qm', 'one')
  writeFileSync(join(folder, 'a.txt'), 'alpha two\n')
}

function configured(
  text: (script: string) => string,
  more?: (folder: string) => void,
): EvilRepository['build'] {
  return (folder, script) => {
    plain(folder)
    more?.(folder)
    appendFileSync(join(folder, '.git', 'config'), text(script))
  }
}

const attributes =
  (line: string) =>
  (folder: string): void =>
    writeFileSync(join(folder, '.gitattributes'), `${line}\n`)

/** A repository elsewhere in the folder whose configuration is the evil one. */
function evilAt(folder: string, name: string, script: string): string {
  const path = join(folder, name)
  mkdirSync(path)
  plain(path)
  appendFileSync(join(path, '.git', 'config'), monitor(script))
  return path
}

const monitor = (script: string): string => `[core]\n\tfsmonitor = ${script}\n`

/** Its own folder is the repository: no `.git`. */
function bare(folder: string, script: string): void {
  plain(folder)
  for (const name of ['HEAD', 'config', 'objects', 'refs', 'index'])
    renameSync(join(folder, '.git', name), join(folder, name))
  rmSync(join(folder, '.git'), { recursive: true })
  appendFileSync(join(folder, 'config'), `\tbare = false\n\tworktree = .\n${monitor(script)}`)
}

function signed(folder: string): void {
  const tree = git(folder, 'rev-parse', 'HEAD^{tree}').trim()
  const text = `tree ${tree}\nauthor t <t@t> 1700000000 +0000\ncommitter t <t@t> 1700000000 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n`
  const commit = execFileSync('git', ['-C', folder, 'hash-object', '-t', 'commit', '-w', '--stdin'], {
    input: text,
    encoding: 'utf8',
  })
  git(folder, 'update-ref', 'refs/heads/main', commit.trim())
}

/** An object is missing, and a remote promises it. */
function promised(remote: (script: string) => string): EvilRepository['build'] {
  return (folder, script) => {
    plain(folder)
    const blob = git(folder, 'rev-parse', 'HEAD:a.txt').trim()
    rmSync(join(folder, '.git', 'objects', blob.slice(0, 2), blob.slice(2)), { force: true })
    const text = `[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\tpromisor = true\n${remote(script)}`
    appendFileSync(join(folder, '.git', 'config'), text)
  }
}

export const EVIL_REPOSITORIES: readonly EvilRepository[] = [
  { name: 'a file-system monitor', build: configured(monitor) },
  { name: 'a monitor in another spelling', build: configured((script) => `[CORE]FSMonitor="${script}"\n`) },
  {
    name: 'a monitor after a comment that goes on',
    build: configured((script) => `[core]\n# harmless \\\n\tfsmonitor = ${script}\n`),
  },
  {
    name: 'a monitor after a value that goes on',
    build: configured((script) => `[user]\n\tname = a \\\n\n${monitor(script)}`),
  },
  {
    name: 'hooks in a folder of the project',
    build: (folder, script) => {
      plain(folder)
      mkdirSync(join(folder, 'hooks'))
      cpSync(join(folder, script), join(folder, 'hooks', 'post-index-change'))
      appendFileSync(join(folder, '.git', 'config'), '[core]\n\thooksPath = hooks\n')
    },
  },
  {
    name: 'the hook that runs when the index is refreshed',
    build: (folder, script) => {
      plain(folder)
      cpSync(join(folder, script), join(folder, '.git', 'hooks', 'post-index-change'))
    },
  },
  {
    name: 'a filter',
    build: configured((script) => `[filter "x"]\n\tclean = ${script}\n`, attributes('* filter=x')),
  },
  {
    name: 'a filter process',
    build: configured(
      (script) => `[filter "x"]\n\tprocess = ${script}\n\trequired = true\n`,
      attributes('* filter=x'),
    ),
  },
  {
    name: 'a filter named in info/attributes',
    build: (folder, script) => {
      plain(folder)
      mkdirSync(join(folder, '.git', 'info'), { recursive: true })
      writeFileSync(join(folder, '.git', 'info', 'attributes'), '* filter=x\n')
      appendFileSync(join(folder, '.git', 'config'), `[filter "x"]\n\tclean = ${script}\n`)
    },
  },
  {
    name: 'a text converter',
    build: configured((script) => `[diff "x"]\n\ttextconv = ${script}\n`, attributes('* diff=x')),
  },
  { name: 'an external comparer', build: configured((script) => `[diff]\n\texternal = ${script}\n`) },
  {
    name: 'an external comparer for one kind of file',
    build: configured((script) => `[diff "x"]\n\tcommand = ${script}\n`, attributes('*.txt diff=x')),
  },
  {
    name: 'a program that checks signatures',
    build: configured((script) => `[gpg]\n\tprogram = ${script}\n`, signed),
  },
  {
    name: 'signatures shown with every log',
    build: configured((script) => `[gpg]\n\tprogram = ${script}\n[log]\n\tshowSignature = true\n`, signed),
  },
  {
    name: 'signatures of another kind',
    build: configured(
      (script) => `[gpg]\n\tformat = openpgp\n[gpg "openpgp"]\n\tprogram = ${script}\n`,
      signed,
    ),
  },
  {
    name: 'an included configuration',
    build: (folder, script) => {
      plain(folder)
      writeFileSync(join(folder, 'evil.cfg'), monitor(script))
      appendFileSync(join(folder, '.git', 'config'), '[include]\n\tpath = ../evil.cfg\n')
    },
  },
  {
    name: 'a configuration included on a condition',
    build: (folder, script) => {
      plain(folder)
      writeFileSync(join(folder, 'evil.cfg'), monitor(script))
      appendFileSync(join(folder, '.git', 'config'), '[includeIf "onbranch:main"]\n\tpath = ../evil.cfg\n')
    },
  },
  {
    name: 'a configuration of the worktree',
    build: (folder, script) => {
      plain(folder)
      appendFileSync(
        join(folder, '.git', 'config'),
        '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n',
      )
      writeFileSync(join(folder, '.git', 'config.worktree'), monitor(script))
    },
  },
  {
    name: 'a common folder elsewhere',
    build: (folder, script) => {
      plain(folder)
      evilAt(folder, 'evil', script)
      writeFileSync(join(folder, '.git', 'commondir'), '../evil/.git\n')
    },
  },
  { name: 'a bare repository', build: bare },
  {
    name: 'a bare repository beside an empty .git',
    build: (folder, script) => {
      bare(folder, script)
      mkdirSync(join(folder, '.git'))
    },
  },
  {
    name: 'a bare repository in a folder below',
    build: (folder, script) => {
      plain(folder)
      rmSync(join(folder, 'sub'), { recursive: true })
      mkdirSync(join(folder, 'sub'))
      bare(join(folder, 'sub'), script.replace('./', '../'))
    },
  },
  {
    name: 'a HEAD that is a link to nowhere',
    build: (folder, script) => {
      plain(folder)
      rmSync(join(folder, '.git', 'HEAD'))
      symlinkSync('refs/heads/none', join(folder, '.git', 'HEAD'))
      appendFileSync(join(folder, '.git', 'config'), monitor(script))
    },
  },
  ...['\n', ' \n', '\n\n', '', '/\n'].map((ending) => ({
    name: `a .git that leads elsewhere, ending in ${JSON.stringify(ending)}`,
    build: (folder: string, script: string): void => {
      plain(folder)
      const evil = evilAt(folder, 'evil', script)
      const target = ending.startsWith(' ') ? `${join(evil, '.git')} ` : join(evil, '.git')
      if (target.endsWith(' ')) renameSync(join(evil, '.git'), target)
      rmSync(join(folder, '.git'), { recursive: true })
      writeFileSync(join(folder, '.git'), `gitdir: ${join(evil, '.git')}${ending}`)
    },
  })),
  {
    name: 'a .git that is a link',
    build: (folder, script) => {
      plain(folder)
      evilAt(folder, 'evil', script)
      rmSync(join(folder, '.git'), { recursive: true })
      symlinkSync('evil/.git', join(folder, '.git'))
    },
  },
  {
    name: 'a repository in a folder below',
    build: (folder, script) => {
      plain(folder)
      rmSync(join(folder, 'sub'), { recursive: true })
      evilAt(folder, 'sub', script.replace('./', '../'))
    },
  },
  {
    name: 'a submodule',
    build: (folder, script) => {
      plain(folder)
      const sub = evilAt(folder, 'module', script.replace('./', '../'))
      git(folder, 'add', 'module')
      appendFileSync(join(sub, 'a.txt'), 'more\n')
    },
  },
  {
    name: 'a submodule whose repository lies in .git/modules',
    build: (folder, script) => {
      plain(folder)
      const sub = evilAt(folder, 'module', script.replace('./', '../'))
      git(folder, 'add', 'module')
      mkdirSync(join(folder, '.git', 'modules'))
      renameSync(join(sub, '.git'), join(folder, '.git', 'modules', 'm'))
      git(folder, 'config', '-f', '.git/modules/m/config', 'core.worktree', '../../../module')
      writeFileSync(join(sub, '.git'), 'gitdir: ../.git/modules/m\n')
      appendFileSync(join(sub, 'a.txt'), 'more\n')
    },
  },
  {
    name: 'a missing object, fetched by a program',
    build: promised((script) => `\turl = .\n\tuploadpack = ${script}\n`),
  },
  {
    name: 'a missing object, fetched over ssh',
    build: promised((script) => `\turl = ssh://x/y\n[core]\n\tsshCommand = ${script}\n`),
  },
  {
    name: 'a missing object, fetched by a protocol of its own',
    build: promised((script) => `\turl = "ext::${script}"\n[protocol "ext"]\n\tallow = always\n`),
  },
  {
    name: 'a missing object, fetched through a proxy',
    build: promised((script) => `\turl = git://x/y\n[core]\n\tgitProxy = ${script}\n`),
  },
  {
    name: 'a pager',
    build: configured(
      (script) => `[core]\n\tpager = ${script}\n[pager]\n\tlog = ${script}\n\tstatus = ${script}\n`,
    ),
    lines: ['git -p log', 'git --paginate status'],
  },
  {
    name: 'an alias',
    build: configured((script) => `[alias]\n\tsummary = "!${script}"\n\tdescribe-it = "!${script}"\n`),
    lines: ['git summary', 'git describe-it'],
  },
  { name: 'a worktree that is the whole disk', build: configured(() => '[core]\n\tworktree = /\n') },
  {
    name: 'lists of names read from elsewhere',
    build: configured(
      () =>
        '[core]\n\texcludesFile = ../outside/secret.txt\n[blame]\n\tignoreRevsFile = ../outside/secret.txt\n[mailmap]\n\tfile = ../outside/secret.txt\n[diff]\n\torderFile = ../outside/secret.txt\n',
    ),
    lines: [`git check-ignore -v --no-index ${OUTSIDE_SECRET}`, 'git check-ignore -v a.txt'],
  },
  {
    name: 'links for the files of a rebase',
    build: (folder) => {
      plain(folder)
      const rebase = join(folder, '.git', 'rebase-merge')
      mkdirSync(rebase)
      writeFileSync(join(rebase, 'interactive'), '')
      writeFileSync(join(rebase, 'head-name'), 'refs/heads/main\n')
      writeFileSync(join(rebase, 'onto'), git(folder, 'rev-parse', 'HEAD'))
      for (const name of ['done', 'git-rebase-todo'])
        symlinkSync('../../../outside/secret.txt', join(rebase, name))
    },
  },
  {
    name: 'a link for what a bisection began with',
    build: (folder) => {
      plain(folder)
      writeFileSync(join(folder, '.git', 'BISECT_LOG'), '')
      symlinkSync('../../outside/secret.txt', join(folder, '.git', 'BISECT_START'))
    },
  },
  {
    name: 'objects of another repository',
    build: (folder) => {
      plain(folder)
      const other = privateAt(folder)
      writeFileSync(
        join(folder, '.git', 'objects', 'info', 'alternates'),
        `${join(other, '.git', 'objects')}\n`,
      )
      git(folder, 'update-ref', 'refs/heads/theirs', git(other, 'rev-parse', 'HEAD').trim())
    },
    lines: [
      'git show theirs',
      'git log -p --all',
      'git grep SECRET theirs',
      'git cat-file -p theirs:secret.txt',
    ],
  },
  {
    name: 'a link to the objects of another repository',
    build: (folder) => {
      plain(folder)
      const other = privateAt(folder)
      const head = git(other, 'rev-parse', 'HEAD').trim()
      for (const name of readdirSync(join(other, '.git', 'objects')).filter((one) => one.length === 2))
        symlinkSync(join(other, '.git', 'objects', name), join(folder, '.git', 'objects', name))
      writeFileSync(join(folder, '.git', 'refs', 'heads', 'theirs'), `${head}\n`)
    },
    lines: ['git show theirs', 'git log -p --all'],
  },
  {
    name: 'a .git that leads to the worktree of another repository',
    build: (folder) => {
      const other = privateAt(folder)
      git(other, 'worktree', 'add', '-q', join(folder, '..', 'outside', 'tree'))
      writeFileSync(join(folder, '.git'), `gitdir: ${join(other, '.git', 'worktrees', 'tree')}\n`)
      writeFileSync(join(folder, 'a.txt'), 'alpha\n')
    },
    lines: ['git show HEAD', 'git log -p', 'git show HEAD:secret.txt', 'git diff'],
  },
]

/** A repository beside the folder, with a secret in its history. */
function privateAt(folder: string): string {
  const other = join(folder, '..', 'outside', 'other')
  execFileSync('git', ['init', '-q', '-b', 'main', other])
  writeFileSync(join(other, 'secret.txt'), `${OUTSIDE_SECRET}\n`)
  git(other, 'add', '.')
  git(other, 'commit', '-qm', 'secret')
  return other
}

export function makeScript(folder: string, mark: string): string {
  const path = join(folder, 'evil.sh')
  writeFileSync(path, `#!/bin/sh\n: > ${mark}\ncat 2>/dev/null\nexit 0\n`)
  chmodSync(path, 0o755)
  return './evil.sh'
}
