import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { bare, evilAt, git, monitor, plain } from './build-repository.ts'
import type { EvilRepository } from './evil-repository.ts'

/** The configuration that counts is not where one would look for it. */
export const FROM_ELSEWHERE: readonly EvilRepository[] = [
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
]
