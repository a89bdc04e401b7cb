import { appendFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { attributes, configured, monitor, plain, signed } from './build-repository.ts'
import type { EvilRepository } from './evil-repository.ts'

/** Their own configuration, or a hook, names a program. */
export const BY_SETTING: readonly EvilRepository[] = [
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
]
