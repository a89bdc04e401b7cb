import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { createWorkbench, type Workbench } from '../../../../../test/kit/workbench.ts'
import { configKeys, findGitRisk } from './find-git-risk.ts'

// Outside of the sandbox git runs unasked only where a folder is trusted and its repository is of the plainest kind.

/** A repository of the plainest kind, made once: git takes longer than to copy what it makes. */
let plain: string
beforeAll(() => {
  plain = mkdtempSync(join(tmpdir(), 'palimpsest-git-'))
  const git = (...args: string[]): unknown => execFileSync('git', ['-C', plain, ...args])
  // Without the samples of hooks, which are most of its files: each test copies it.
  git('init', '-q', '--template=')
  mkdirSync(join(plain, '.git', 'hooks'))
  writeFileSync(join(plain, 'a.txt'), 'one')
  git('add', 'a.txt')
  git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'one')
  git('remote', 'add', 'origin', 'https://example.com/x.git')
  git('config', 'branch.main.merge', 'refs/heads/main')
})
afterAll(() => rmSync(plain, { recursive: true, force: true }))

let bench: Workbench
beforeEach(async () => {
  bench = await createWorkbench({ isTrusted: true })
  cpSync(plain, bench.work, { recursive: true })
})
afterEach(() => bench.dispose())

const allowed = async (command = 'git status'): Promise<boolean> =>
  (await bench.permit('Bash', { command })).allow
const config = (text: string): void => appendFileSync(join(bench.work, '.git/config'), text)

const RISKY = [
  '[core]\n\tfsmonitor = touch pwned\n',
  '[core] fsmonitor = "touch pwned"\n',
  '[CORE]\nFSMonitor=touch pwned\n',
  '[core]\n\tfsmonitor\n',
  '[core]\n\thooksPath = hooks\n',
  '[core]\n\tpager = touch pwned\n',
  '[filter "x"]\n\tclean = touch pwned\n',
  '[diff "x"]\n\ttextconv = touch pwned\n',
  '[diff.x]\n\ttextconv = touch pwned\n',
  '[diff]\n\texternal = touch pwned\n',
  '[include]\n\tpath = ../evil\n',
  '[includeIf "gitdir:/"]\n\tpath = ../evil\n',
  '[gpg]\n\tprogram = ./evil\n',
  '[remote "x"]\n\tpromisor = true\n\tuploadpack = touch pwned\n',
  '[extensions]\n\tpartialClone = x\n',
  '[alias]\n\tstatus = !touch pwned\n',
  '[core]\n\tworktree = /\n',
  '# a comment that goes on \\\n[core]\n\tfsmonitor = touch pwned\n',
  '[core] ; not alone on its line\n\tbare = false\n',
  '[diff]\n\torderFile = /etc/passwd\n',
  '\uFEFF[core]\n\tbare = false\n',
  '[core]\n\tbare = false\r\r\n',
  '[user]\n\tname = a \\\n\n[core]\nfsmonitor = x\n',
  'this is no configuration\n',
]

describe('git without a sandbox, in a trusted folder', () => {
  test('runs unasked where its configuration is harmless', async () => {
    expect(await findGitRisk(bench.work)).toBeUndefined()
    expect(await allowed()).toBe(true)
    expect(await allowed('git log --oneline -3 && git diff HEAD')).toBe(true)
  })

  test('asks where the repository says what may run a program', async () => {
    const path = join(bench.work, '.git/config')
    const harmless = readFileSync(path, 'utf8')
    for (const text of RISKY) {
      writeFileSync(path, harmless + text)
      expect([text, await findGitRisk(bench.work)]).toEqual([
        text,
        expect.stringMatching(/may run a program/),
      ])
      expect([text, await allowed()]).toEqual([text, false])
    }
    writeFileSync(path, harmless)
    expect(await allowed()).toBe(true)
  })

  test('a planted monitor runs when git itself is called, and not when we check', async () => {
    config(`[core]\n\tfsmonitor = touch ${join(bench.root, 'pwned')} #\n`)
    expect(await allowed()).toBe(false)
    expect(existsSync(join(bench.root, 'pwned'))).toBe(false)
    execFileSync('git', ['-C', bench.work, 'status'])
    expect(existsSync(join(bench.root, 'pwned'))).toBe(true)
  })

  test('asks in a folder that is itself a repository, in a linked worktree, and with submodules', async () => {
    const inner = join(bench.work, 'inner')
    execFileSync('git', ['init', '-q', '--bare', inner])
    appendFileSync(join(inner, 'config'), '[core]\n\tfsmonitor = x\n')
    expect(await findGitRisk(inner)).toMatch(/looks like a repository/)

    const linked = join(bench.work, 'linked')
    mkdirSync(linked)
    renameSync(inner, join(bench.outside, 'evil'))
    writeFileSync(join(linked, '.git'), `gitdir: ${join(bench.outside, 'evil')}\n`)
    expect(await findGitRisk(linked)).toMatch(/leads to another repository/)

    execFileSync('git', [
      '-C',
      bench.work,
      'update-index',
      '--add',
      '--cacheinfo',
      `160000,${'1'.repeat(40)},sub`,
    ])
    expect(await findGitRisk(bench.work)).toMatch(/submodules/)
  })

  test('follows a linked worktree of its own making, and no other', async () => {
    const linked = join(bench.outside, 'linked')
    execFileSync('git', ['-C', bench.work, 'worktree', 'add', '-q', linked])
    expect(await findGitRisk(linked)).toBeUndefined()
    config('[core]\n\tfsmonitor = x\n')
    expect(await findGitRisk(linked)).toMatch(/fsmonitor/)
  })

  test.each([
    'rebase-merge/done',
    'BISECT_START',
    'info/exclude',
    'packed-refs',
    'refs/heads/other',
    'logs/HEAD',
    'objects/pack/other',
    'worktrees/x/locked',
  ])('asks where .git/%s is a link: git shows what it leads to', async (name) => {
    const path = join(bench.work, '.git', name)
    mkdirSync(dirname(path), { recursive: true })
    rmSync(path, { force: true })
    symlinkSync(join(bench.outside, 'secret.txt'), path)
    expect(await findGitRisk(bench.work)).toMatch(/neither a folder nor a file/)
    expect(await allowed()).toBe(false)
  })

  test('asks where it uses objects of other repositories', async () => {
    writeFileSync(join(bench.work, '.git/objects/info/alternates'), `${bench.outside}/.git/objects\n`)
    expect(await findGitRisk(bench.work)).toMatch(/leads to other repositories/)
    expect(await allowed()).toBe(false)
  })

  test('asks where the repository is above the working folder, or where the folder is a worktree that its repository does not name', async () => {
    const [inner, tree] = [join(bench.work, 'inner'), join(bench.outside, 'tree')]
    mkdirSync(inner)
    execFileSync('git', ['-C', bench.work, 'worktree', 'add', '-q', tree])
    const above = await createWorkbench({ isTrusted: true, work: inner })
    expect((await above.permit('Bash', { command: 'git status' })).allow).toBe(false)
    writeFileSync(join(inner, '.git'), `gitdir: ${join(bench.work, '.git/worktrees/tree')}\n`)
    expect((await above.permit('Bash', { command: 'git status' })).allow).toBe(false)
    const own = await createWorkbench({ isTrusted: true, work: tree })
    expect((await own.permit('Bash', { command: 'git status' })).allow).toBe(true)
    await above.dispose()
    await own.dispose()
  })

  test.each([
    ['commondir', '../evil\n'],
    ['gitdir', '../evil\n'],
  ])('asks where .git holds %s', async (name, content) => {
    writeFileSync(join(bench.work, '.git', name), content)
    expect(await findGitRisk(bench.work)).toMatch(/leads to another repository/)
    expect(await allowed()).toBe(false)
  })

  test('asks where .git is not a plain folder: empty, a link, or with a link as its HEAD', async () => {
    const git = join(bench.work, '.git')
    const head = join(git, 'HEAD')
    rmSync(head)
    expect(await findGitRisk(bench.work)).toMatch(/no plain repository/)
    symlinkSync('refs/heads/main', head)
    expect(await findGitRisk(bench.work)).toMatch(/no plain repository/)
    renameSync(git, join(bench.outside, 'git'))
    symlinkSync(join(bench.outside, 'git'), git)
    expect(await findGitRisk(bench.work)).toMatch(/neither a folder nor a file/)
    expect(await allowed()).toBe(false)
  })

  test.each([
    'gitdir: ../outside/g \n',
    'gitdir: ../outside/g\n\n',
    'gitdir:../outside/g\n',
    ' gitdir: x\n',
    '',
  ])('asks where the file .git says %j', async (text) => {
    rmSync(join(bench.work, '.git'), { recursive: true })
    writeFileSync(join(bench.work, '.git'), text)
    expect(await findGitRisk(bench.work)).toMatch(/leads to another repository/)
  })

  test('asks about the folder that the line changes to', async () => {
    const inner = join(bench.work, 'vendor')
    execFileSync('git', ['init', '-q', inner])
    expect(await allowed('cd vendor && git status')).toBe(true)
    appendFileSync(join(inner, '.git/config'), '[core]\n\tfsmonitor = x\n')
    expect(await allowed('cd vendor && git status')).toBe(false)
    expect(await allowed('git -C vendor status')).toBe(false)
  })

  test('hooks count where nothing switches them off: in a line that rules allow in part', async () => {
    await bench.dispose()
    bench = await createWorkbench({ isTrusted: true, rules: { allow: ['Bash(make:*)'] } })
    execFileSync('git', ['init', '-q', bench.work])
    expect(await allowed('make && git status')).toBe(true)
    writeFileSync(join(bench.work, '.git/hooks/post-index-change'), '#!/bin/sh\n', { mode: 0o755 })
    expect(await allowed('make && git status')).toBe(false)
    expect(await allowed('git status')).toBe(true)
  })
})

describe('git without a sandbox, in an untrusted folder', () => {
  test('is asked about, except for its version', async () => {
    await bench.dispose()
    bench = await createWorkbench()
    execFileSync('git', ['init', '-q', bench.work])
    for (const line of ['git status', 'git log', 'git rev-parse HEAD', 'ls && git diff'])
      expect([line, await allowed(line)]).toEqual([line, false])
    expect(await allowed('git --version')).toBe(true)
  })
})

describe('keys of a configuration', () => {
  test('are read as git reads them', () => {
    const text = '# c\n[core]\n a = 1 ; x\n[Remote "Origin.x"]\n\tURL = y\n[a.b]\nC=1\nf\n;x\n'
    expect(configKeys(text)).toEqual(['core.a', 'remote.Origin.x.url', 'a.b.c', 'a.b.f'])
    for (const odd of ['[a] b = c', 'a = b \\', '# x \\', '[a "b\\n"]', '= x', 'a b = c', '[a'])
      expect([odd, configKeys(odd)]).toEqual([odd, [expect.stringMatching(/^unreadable: /)]])
  })
})
