import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { configured, git, plain, privateAt, promised } from './build-repository.ts'
import { OUTSIDE_SECRET, type EvilRepository } from './evil-repository.ts'

/** Git fetches, pages or is told by another name; or it shows what lies outside. */
export const FETCHED_OR_SHOWN: readonly EvilRepository[] = [
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
