import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createWorkbench, type Workbench } from '../../../../../test/kit/workbench.ts'
import { configKeys, findGitRisk } from './find-git-risk.ts'

let bench: Workbench
beforeEach(async () => {
  bench = await createWorkbench()
  const git = (...args: string[]): unknown => execFileSync('git', ['-C', bench.work, ...args])
  git('init', '-q')
  writeFileSync(join(bench.work, 'a.txt'), 'one')
  git('add', 'a.txt')
  git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'one')
  git('remote', 'add', 'origin', 'https://example.com/x.git')
  git('config', 'branch.main.merge', 'refs/heads/main')
})
afterEach(() => bench.dispose())

const allowed = async (command = 'git status'): Promise<boolean> =>
  (await bench.permit('Bash', { command })).allow
const config = (text: string): void => appendFileSync(join(bench.work, '.git/config'), text)

describe('git in a folder that nobody trusted', () => {
  test('runs unasked where its configuration is harmless', async () => {
    expect(await findGitRisk(bench.work)).toBeUndefined()
    expect(await allowed()).toBe(true)
    expect(await allowed('git log --oneline -3 && git diff HEAD')).toBe(true)
  })

  test.each([
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
    '[user]\n\tname = a \\\n\n[core]\nfsmonitor = x\n',
    'this is no configuration\n',
  ])('asks where the repository says %j', async (text) => {
    config(text)
    expect(await findGitRisk(bench.work)).toMatch(/may run a program/)
    expect(await allowed()).toBe(false)
  })

  test('a planted monitor runs when git is really called, and not by us', async () => {
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
    expect(await findGitRisk(inner)).toMatch(/fsmonitor/)

    const linked = join(bench.work, 'linked')
    mkdirSync(linked)
    renameSync(inner, join(bench.outside, 'evil'))
    writeFileSync(join(linked, '.git'), `gitdir: ${join(bench.outside, 'evil')}\n`)
    expect(await findGitRisk(linked)).toMatch(/fsmonitor/)

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

  test('git in another folder is not taken for granted', async () => {
    mkdirSync(join(bench.work, 'vendor'))
    expect(await allowed('cd vendor && git status')).toBe(false)
    expect(await allowed('git -C vendor status')).toBe(false)
  })

  test('in a trusted folder git runs as it is', async () => {
    await bench.dispose()
    bench = await createWorkbench({ isTrusted: true })
    execFileSync('git', ['init', '-q', bench.work])
    config('[core]\n\thooksPath = hooks\n')
    expect(await allowed()).toBe(true)
  })
})

describe('keys of a configuration', () => {
  test('are read as git reads them', () => {
    const text = '# c\n[core]\n a = 1 ; x\n[Remote "Origin.x"] URL = y\n[a.b]\nC=\\\nd = e\nf\n;x\n'
    expect(configKeys(text)).toEqual(['core.a', 'remote.Origin.x.url', 'a.b.c', 'a.b.f'])
  })
})
