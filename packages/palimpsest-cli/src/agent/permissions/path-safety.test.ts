import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'

import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { createWorkbench, textOf, type Workbench } from '../../../../../test/kit/workbench.ts'
import type { PermissionMode } from './permission-mode.ts'

const MODES: readonly PermissionMode[] = ['default', 'accept-edits', 'plan', 'bypass']

/** Ways to name a file outside of the working folder. `{outside}` and `{home}` are filled in. */
const WAYS_OUT = [
  '../outside/target.txt',
  'sub/../../outside/target.txt',
  './../outside/target.txt',
  '{outside}/target.txt',
  '{outside}/new/deep/file.txt',
  'link-to-file',
  'link-to-folder/target.txt',
  'link-to-folder/new.txt',
  'link-to-folder/new/deep.txt',
  'dangling',
  'dangling-folder/x.txt',
  'link-to-link',
  'sub/link-up/outside/target.txt',
  '~/target.txt',
  '/proc/self/cwd/../outside/target.txt',
  '/proc/self/root{outside}/target.txt',
]

let bench: Workbench
afterEach(() => bench.dispose())

async function prepare(
  mode: PermissionMode,
  rules: { allow?: string[]; deny?: string[]; ask?: string[] } = {},
): Promise<void> {
  bench = await createWorkbench({ mode, rules })
  const { work, outside, home } = bench
  for (const folder of [outside, home]) writeFileSync(join(folder, 'target.txt'), 'untouched')
  mkdirSync(join(work, 'sub'))
  symlinkSync(join(outside, 'target.txt'), join(work, 'link-to-file'))
  symlinkSync('../outside', join(work, 'link-to-folder'))
  symlinkSync(join(outside, 'not-there.txt'), join(work, 'dangling'))
  symlinkSync(join(outside, 'not-there'), join(work, 'dangling-folder'))
  symlinkSync('link-to-file', join(work, 'link-to-link'))
  symlinkSync('../..', join(work, 'sub', 'link-up'))
}

const fill = (path: string): string => path.replace('{outside}', bench.outside).replace('{home}', bench.home)

function outsideState(): unknown {
  const list = (folder: string): unknown =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .map(
        (entry) =>
          `${entry.name}: ${entry.isFile() ? readFileSync(join(entry.parentPath, entry.name), 'utf8') : ''}`,
      )
      .toSorted()
  return [list(bench.outside), list(bench.home)]
}

describe('(S1) a file outside the working folder', () => {
  test.each(MODES.filter((mode) => mode !== 'bypass'))(
    'is not written in mode %s, whatever path leads to it',
    async (mode) => {
      await prepare(mode)
      const before = outsideState()
      for (const path of WAYS_OUT) {
        for (const name of ['Write', 'Edit']) {
          const change = { content: 'owned', old_string: 'untouched', new_string: 'owned' }
          const { isError } = await bench.call(name, { file_path: fill(path), ...change })
          expect({ path, name, isError }).toEqual({ path, name, isError: true })
        }
        expect({ path, state: outsideState() }).toEqual({ path, state: before })
      }
    },
  )

  test('is not written through any path where rules allow edits in the folder', async () => {
    await prepare('default', { allow: ['Edit', 'Edit(./**)', 'Edit(link-to-folder/**)', 'Edit(sub/**)'] })
    const before = outsideState()
    for (const path of WAYS_OUT) {
      const { isError } = await bench.call('Write', { file_path: fill(path), content: 'owned' })
      expect({ path, isError, state: outsideState() }).toEqual({ path, isError: true, state: before })
    }
  })

  test('is written where a rule names it by its real path, and not where a rule names another file', async () => {
    await prepare('default')
    await bench.dispose()
    bench = await createWorkbench({ rules: { allow: ['Edit(../outside/**)'] } })
    expect(
      (await bench.call('Write', { file_path: '../outside/new.txt', content: 'allowed' })).isError,
    ).toBeUndefined()
    expect((await bench.call('Write', { file_path: '../home/new.txt', content: 'no' })).isError).toBe(true)
    expect(readdirSync(bench.outside)).toEqual(['new.txt'])
  })

  test('is written in an additional folder like in the working folder', async () => {
    bench = await createWorkbench({ mode: 'accept-edits', additional: ['outside'] })
    expect(
      (await bench.call('Write', { file_path: '../outside/new.txt', content: 'x' })).isError,
    ).toBeUndefined()
    symlinkSync(bench.home, join(bench.outside, 'out'))
    expect((await bench.call('Write', { file_path: '../outside/out/new.txt', content: 'x' })).isError).toBe(
      true,
    )
    expect(readdirSync(bench.home)).toEqual([])
  })

  test('is not written even in bypass mode where a rule forbids it, under any name', async () => {
    for (const path of [
      'link-to-folder/target.txt',
      '{outside}/target.txt',
      'link-to-link',
      'sub/link-up/outside/target.txt',
    ]) {
      await prepare('bypass', { deny: ['Edit(../outside/**)'] })
      const before = outsideState()
      expect(textOf(await bench.call('Write', { file_path: fill(path), content: 'owned' }))).toMatch(
        /the rule Edit\(\.\.\/outside\/\*\*\) forbids it/,
      )
      expect(outsideState()).toEqual(before)
      await bench.dispose()
    }
    await prepare('bypass')
  })
})

describe('(S1) a link that is swapped between permission and write', () => {
  beforeEach(() => prepare('accept-edits'))

  test.each([
    [
      'the file becomes a link',
      'sub/file.txt',
      () => symlinkSync(join(bench.outside, 'target.txt'), join(bench.work, 'sub/file.txt')),
    ],
    [
      'the folder becomes a link',
      'sub/file.txt',
      () => {
        rmSync(join(bench.work, 'sub'), { recursive: true })
        symlinkSync(bench.outside, join(bench.work, 'sub'))
      },
    ],
    [
      'a folder further up becomes a link',
      'sub/a/b/file.txt',
      () => {
        mkdirSync(join(bench.outside, 'a/b'), { recursive: true })
        renameSync(join(bench.work, 'sub'), join(bench.work, 'old'))
        symlinkSync(bench.outside, join(bench.work, 'sub'))
      },
    ],
    [
      'the link leads to another file of the folder',
      'inner',
      () => {
        rmSync(join(bench.work, 'inner'), { force: true })
        symlinkSync('secret.txt', join(bench.work, 'inner'))
      },
    ],
  ])('is not written through: %s', async (_, path, meanwhile) => {
    writeFileSync(join(bench.work, 'secret.txt'), 'untouched')
    const before = outsideState()
    const output = await bench.call('Write', { file_path: path, content: 'owned' }, { meanwhile })
    expect(output.isError).toBe(true)
    const added = JSON.stringify(outsideState()).includes('owned')
    expect(added).toBe(false)
    expect(readFileSync(join(bench.work, 'secret.txt'), 'utf8')).toBe('untouched')
    if (_ !== 'a folder further up becomes a link') expect(outsideState()).toEqual(before)
  })

  test('is not read through either', async () => {
    writeFileSync(join(bench.outside, 'target.txt'), 'SECRET')
    writeFileSync(join(bench.work, 'plain.txt'), 'plain')
    const meanwhile = (): void => {
      rmSync(join(bench.work, 'plain.txt'))
      symlinkSync(join(bench.outside, 'target.txt'), join(bench.work, 'plain.txt'))
    }
    expect(textOf(await bench.call('Read', { file_path: 'plain.txt' }, { meanwhile }))).toMatch(
      /led to another file when it was permitted/,
    )
  })

  test('a call that was never permitted writes nothing', async () => {
    const write = bench.tools.find(({ name }) => name === 'Write')
    const context = { toolUseId: 'never', signal: new AbortController().signal }
    expect(await write?.run({ file_path: 'x.txt', content: 'x' }, context)).toMatchObject({ isError: true })
    expect(readdirSync(bench.work)).not.toContain('x.txt')
  })
})

describe('(S1) any tree of links', () => {
  // Names are few, so that links meet each other, lead in circles and out.
  const name = fc.constantFrom('a', 'b', 'c')
  const target = fc.constantFrom(
    'a',
    'b',
    'c',
    '..',
    '../..',
    '../outside',
    'a/b',
    './c/..',
    '../work/a',
    '../outside/new',
  )
  const links = fc.array(fc.tuple(fc.array(name, { minLength: 1, maxLength: 3 }), target), { maxLength: 6 })
  const path = fc.array(fc.oneof(name, fc.constantFrom('..', '.')), { minLength: 1, maxLength: 6 })

  test('in accept-edits mode, no path made of them writes outside the folder', async () => {
    await prepare('accept-edits')
    let written = 0
    await fc.assert(
      fc.asyncProperty(links, path, async (tree, parts) => {
        rmSync(bench.work, { recursive: true })
        mkdirSync(bench.work)
        for (const [place, to] of tree) makeLink(bench.work, place, to)
        const before = [readdirSync(bench.root), outsideState()]
        const outcome = await bench.call('Write', { file_path: parts.join('/'), content: 'x' })
        expect([readdirSync(bench.root), outsideState()]).toEqual(before)
        if (outcome.isError !== true) {
          written++
          const made = /^Made (.*) \(1 line\)\.$/.exec(textOf(outcome))?.[1] ?? ''
          expect(readFileSync(made, 'utf8')).toBe('x')
          expect(relative(bench.work, realpathSync(made)).startsWith('..')).toBe(false)
        }
      }),
      cases(40, 20_000),
    )
    expect(written).toBeGreaterThan(0)
  })
})

/** Folder by folder, so that no link made before is followed while the next one is made. */
function makeLink(folder: string, [name = 'a', ...rest]: readonly string[], to: string): void {
  const here = join(folder, name)
  const found = lstatSync(here, { throwIfNoEntry: false })
  if (rest.length === 0) {
    if (found === undefined) symlinkSync(to, here)
    return
  }
  if (found === undefined) mkdirSync(here)
  if (found === undefined || found.isDirectory()) makeLink(here, rest, to)
}

describe('a path with ".." after a link', () => {
  test('(S1) leads where the system leads: up from where the link points', async () => {
    await prepare('accept-edits')
    const before = outsideState()
    for (const path of ['link-to-folder/../outside/x.txt', 'sub/link-up/home/../outside/x.txt']) {
      const output = await bench.call('Write', { file_path: path, content: 'x' })
      expect([path, output.isError]).toEqual([path, true])
    }
    expect(outsideState()).toEqual(before)
  })

  test('is read where it leads, by every tool that takes a path', async () => {
    await prepare('default')
    mkdirSync(join(bench.work, 'home'))
    writeFileSync(join(bench.work, 'home', 'target.txt'), 'mine')
    const calls = [
      ['Read', { file_path: 'link-to-folder/../home/target.txt' }],
      ['Grep', { pattern: 'x', path: 'link-to-folder/../home' }],
      ['Glob', { pattern: 'link-to-folder/../home/*' }],
      ['Glob', { pattern: '*', path: 'link-to-folder/../home' }],
      ['Bash', { command: 'cat link-to-folder/../home/target.txt' }],
      ['Bash', { command: 'cd link-to-folder/.. && cat home/target.txt' }],
    ] as const
    for (const [name, input] of calls) {
      const { allow } = await bench.permit(name, input)
      expect([name, input, allow]).toEqual([name, input, false])
    }
  })
})

describe('a private place inside the working folder', () => {
  const open = async (): Promise<void> => {
    bench = await createWorkbench({ additional: ['home', 'home/.ssh/work'], ownHome: 'home/.palimpsest' })
    for (const folder of ['.ssh/work', '.config/gh', '.palimpsest/projects', '.some-cloud'])
      mkdirSync(join(bench.home, folder), { recursive: true })
    for (const name of [
      '.ssh/id_rsa',
      '.ssh/work/a.txt',
      '.config/gh/hosts.yml',
      '.some-cloud/token',
      'notes.txt',
    ])
      writeFileSync(join(bench.home, name), 'KEY')
    writeFileSync(join(bench.home, '.gitignore'), 'x')
    writeFileSync(join(bench.home, '.palimpsest/projects/x.jsonl'), 'KEY')
    symlinkSync('.ssh', join(bench.home, 'innocent'))
  }

  const places = [
    ['.ssh/id_rsa', false],
    ['innocent/id_rsa', false],
    ['.config/gh/hosts.yml', false],
    // No list names it.
    ['.some-cloud/token', false],
    ['.gitignore', true],
    ['.palimpsest/projects/x.jsonl', false],
    ['notes.txt', true],
    // A folder that is worked in is no longer private.
    ['.ssh/work/a.txt', true],
  ] as const

  test('is not read unasked', async () => {
    await open()
    for (const [path, isFree] of places) {
      const file = join(bench.home, path)
      const read = await bench.permit('Read', { file_path: file })
      const cat = await bench.permit('Bash', { command: `cat ${file}` })
      expect([path, read.allow, cat.allow]).toEqual([path, isFree, isFree])
    }
  })

  test('is left out of searches', async () => {
    await open()
    const found = textOf(await bench.call('Grep', { pattern: 'KEY', path: bench.home }))
    expect(found.split('\n').map((path) => relative(bench.home, resolve(bench.work, path)))).toEqual([
      '.ssh/work/a.txt',
      'notes.txt',
    ])
    expect(textOf(await bench.call('Glob', { pattern: '**/*', path: bench.home }))).not.toMatch(
      /id_rsa|hosts/,
    )
  })
})

describe('a working folder that contains the whole machine', () => {
  const pid = process.pid
  const calls = [
    ['Read', { file_path: `/proc/${pid}/environ` }],
    ['Read', { file_path: '/proc/self/environ' }],
    ['Grep', { pattern: 'x', path: `/proc/${pid}/environ` }],
    ['Grep', { pattern: 'x', path: '/proc/self' }],
    ['Glob', { pattern: '/proc/self/*' }],
    ['Glob', { pattern: '*', path: '/sys' }],
    ['Bash', { command: `cat /proc/${pid}/environ` }],
    ['Bash', { command: 'cat /proc/self/environ' }],
    ['Bash', { command: `cd /proc && cat ${pid}/environ` }],
    ['Bash', { command: `head -1 < /proc/${pid}/environ` }],
    ['Bash', { command: 'grep -r x .' }],
    ['Bash', { command: 'rg x' }],
    ['Bash', { command: 'cat /dev/mem' }],
  ] as const

  test.each(['/', '/proc'])('gives no unasked access to it: %s', async (work) => {
    bench = await createWorkbench({ work })
    for (const [name, input] of calls) {
      const { allow } = await bench.permit(name, input)
      expect([name, input, allow]).toEqual([name, input, false])
    }
  })
})

describe('configuration that decides what programs do', () => {
  const deciding = [
    '.git/hooks/pre-commit',
    '.git/config',
    '.GIT/config',
    '.g\u200cit/config',
    '.git./config',
    'GIT~1/config',
    'sub/.git',
    'sub/HEAD',
    'HEAD',
    'vendor/commondir',
    'vendor/packed-refs',
    '.gitattributes',
    '.gitmodules',
    '.githooks/pre-push',
    '.palimpsest/settings.json',
    '.claude/settings.json',
    '.mcp.json',
    '.cursor/mcp.json',
    'sub/.vscode/tasks.json',
    '.idea/workspace.xml',
    'x.code-workspace',
    '.devcontainer/devcontainer.json',
    '.envrc',
    'mise.toml',
    '.bashrc',
    'sub/.zshenv',
    '.profile',
    '.vimrc',
    '.exrc',
    '.husky/pre-push',
    'lefthook.yml',
    '.pre-commit-config.yaml',
    '.npmrc',
    '.yarnrc.yml',
    '.yarn/releases/yarn.cjs',
    '.pnpmfile.cjs',
    '.cargo/config.toml',
    'rust-toolchain.toml',
    '.github/workflows/ci.yml',
    '.GitHub/Actions/x/action.yml',
    '.gitlab-ci.yml',
    '.circleci/config.yml',
    'Jenkinsfile',
    'AGENTS.md',
    'docs/Claude.md',
    '.github/copilot-instructions.md',
    'flake.nix',
    'azure-pipelines.yml',
    '.config/fish/config.fish',
    '.ssh/authorized_keys',
  ]

  test('is not written unasked in accept-edits mode, nor by a rule that does not name it', async () => {
    bench = await createWorkbench({ mode: 'accept-edits', rules: { allow: ['Edit', 'Write'] } })
    for (const path of deciding) {
      const told = textOf(await bench.call('Write', { file_path: path, content: 'x' }))
      expect([path, told]).toEqual([path, expect.stringMatching(/decides what other programs do/)])
    }
    expect(readdirSync(bench.work)).toEqual([])
  })

  test('any name that starts with a dot is protected, except for a few; so are names related to known ones', async () => {
    bench = await createWorkbench({ mode: 'accept-edits' })
    const known =
      `.hg/hgrc .jj/repo/config.toml .svn/x _darcs/prefs/defaults .pdbrc .sqliterc .psqlrc .ghci .iex.exs .kube/config .docker/config.json
      .forward .helix/languages.toml .lite_project.lua .kiro/settings/mcp.json .github/hooks/x.json .github/agents/x.md .github/dependabot.yml
      .lintstagedrc.cjs lint-staged.config.mjs lefthook-local.yml azure-pipelines-nightly.yml deploy.gitlab-ci.yml .builds/x.yml .build.yml
      .venv/bin/activate lib/x.pth sitecustomize.py Microsoft.PowerShell_profile.ps1 .bashrc.d/x .zsh_plugins.txt hooks/pre-commit`.split(
        /\s+/,
      )
    const letters = fc.stringMatching(/^[a-z][a-z0-9_.-]{0,12}[a-z0-9]$/)
    const made = fc
      .sample(letters, { numRuns: process.env['SOAK'] ? 40 : 12, seed: 7 })
      .flatMap((name) =>
        /^env\b|ignore$/.test(name) ? [] : [`.${name}`, `src/.${name}/x.txt`, `.${name.toUpperCase()}`],
      )
    const free: string[] = []
    for (const path of [...known, ...made])
      if ((await bench.permit('Write', { file_path: path, content: 'x' })).allow) free.push(path)
    expect(free).toEqual([])
  })

  const plain = [
    'Makefile',
    'package.json',
    '.github/PULL_REQUEST_TEMPLATE/x.md',
    '.github/CODEOWNERS',
    '.env.local',
    '.dockerignore',
    '.storybook/main.ts',
    'src/mise/index.ts',
    'src/git.ts',
    'src/head/index.ts',
    'docs/HEAD.md',
    '.github/ISSUE_TEMPLATE.md',
    '.env',
    '.gitignore',
    '.editorconfig',
    'config',
    'objects/x',
    'Dockerfile',
  ]

  test('an ordinary file is written', async () => {
    bench = await createWorkbench({ mode: 'accept-edits' })
    for (const path of plain) {
      const { allow } = await bench.permit('Write', { file_path: path, content: 'x' })
      expect([path, allow]).toEqual([path, true])
    }
  })

  test('a folder cannot be made a repository, nor can one that looks like it get a configuration', async () => {
    bench = await createWorkbench({ mode: 'accept-edits' })
    mkdirSync(join(bench.work, 'bare', 'objects'), { recursive: true })
    mkdirSync(join(bench.work, 'bare', 'refs'))
    const parts = [
      'config',
      'objects/info/alternates',
      'refs/heads/main',
      'hooks/post-index-change',
      'info/attributes',
    ]
    expect((await bench.permit('Write', { file_path: 'bare/HEAD', content: 'x' })).allow).toBe(false)
    // Whether it has a HEAD already, or one that leads nowhere.
    symlinkSync('nowhere', join(bench.work, 'bare', 'HEAD'))
    symlinkSync('bare', join(bench.work, 'innocent'))
    for (const folder of ['bare', 'innocent'])
      for (const part of parts) {
        const file_path = `${folder}/${part}`
        expect([file_path, (await bench.permit('Write', { file_path, content: 'x' })).allow]).toEqual([
          file_path,
          false,
        ])
      }
  })

  test('what the repository itself names for its hooks and its configuration is protected too', async () => {
    bench = await createWorkbench({ mode: 'accept-edits' })
    mkdirSync(join(bench.work, '.git'))
    writeFileSync(
      join(bench.work, '.git', 'config'),
      '[core]\n\thooksPath = "scripts/checks"\n[include]\n\tpath = ../tools/extra.inc # more\n[include] path = \\\n../tools/one-line.inc\n',
    )
    for (const [path, free] of [
      ['scripts/checks/pre-push', false],
      ['tools/extra.inc', false],
      ['tools/one-line.inc', false],
      ['scripts/build.sh', true],
      ['tools/other.inc', true],
    ] as const)
      expect([path, (await bench.permit('Write', { file_path: path, content: 'x' })).allow]).toEqual([
        path,
        free,
      ])
  })

  test.each([
    [
      '/',
      [
        '/etc/profile.d/x.sh',
        '/usr/local/bin/ls',
        '/var/spool/cron/crontabs/root',
        '/root/.bashrc',
        '/sys/x',
      ],
    ],
    ['/etc', ['/etc/profile', '/etc/cron.d/x', '/etc/ld.so.preload']],
    ['/var', ['/var/spool/cron/crontabs/root']],
  ])('the system’s own files are protected when the working folder is %s', async (work, paths) => {
    bench = await createWorkbench({ work, mode: 'accept-edits' })
    for (const file_path of paths)
      expect([file_path, (await bench.permit('Write', { file_path, content: 'x' })).allow]).toEqual([
        file_path,
        false,
      ])
  })

  test('asks inside a repository’s own folder too, but not in a worktree there', async () => {
    bench = await createWorkbench()
    const git = join(bench.outside, '.git')
    for (const folder of ['hooks', 'wt/feature']) mkdirSync(join(git, folder), { recursive: true })
    writeFileSync(join(git, 'HEAD'), 'ref: refs/heads/main\n')
    writeFileSync(join(git, 'wt', 'feature', '.git'), 'gitdir: x\n')
    for (const [folder, free] of [
      ['hooks', false],
      ['wt/feature', true],
    ] as const) {
      const work = join(git, folder)
      const inside = await createWorkbench({ mode: 'accept-edits', work })
      const { allow } = await inside.permit('Write', { file_path: 'post-index-change', content: 'x' })
      await inside.dispose()
      expect([folder, allow]).toEqual([folder, free])
    }
  })

  test('a folder on PATH is protected, and no other', async () => {
    const work = realpathSync(mkdtempSync(join(tmpdir(), 'palimpsest-path-')))
    mkdirSync(join(work, 'bin'))
    symlinkSync('bin', join(work, 'linked'))
    const paths = [join(work, 'linked'), join(work, 'later'), work, process.env['PATH'] ?? '']
    bench = await createWorkbench({ mode: 'accept-edits', work, env: { PATH: paths.join(':') } })
    for (const [path, free] of [
      ['bin/ls', false],
      ['linked/ls', false],
      ['later/ls', false],
      ['ls', true],
      ['src/bin/ls', true],
    ] as const)
      expect([path, (await bench.permit('Write', { file_path: path, content: 'x' })).allow]).toEqual([
        path,
        free,
      ])
    rmSync(work, { recursive: true })
  })

  test('a rule that names it allows it', async () => {
    bench = await createWorkbench({ rules: { allow: ['Edit(.husky/**)'] } })
    expect(
      (await bench.call('Write', { file_path: '.husky/pre-push', content: 'x' })).isError,
    ).toBeUndefined()
  })

  test('a link in the folder does not hide it', async () => {
    bench = await createWorkbench({ mode: 'accept-edits' })
    mkdirSync(join(bench.work, '.git'))
    symlinkSync('.git', join(bench.work, 'innocent'))
    expect((await bench.call('Write', { file_path: 'innocent/config', content: 'x' })).isError).toBe(true)
    expect(readdirSync(join(bench.work, '.git'))).toEqual([])
  })
})
