import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeEach, describe, expect, test } from 'vitest'

import { sandboxWorks } from '../../../../../test/kit/sandbox-works.ts'
import { tempFolder } from '../../../../../test/kit/temp-home.ts'
import { createAccess } from '../paths/access.ts'
import { readingEnvironment } from '../process/child-environment.ts'
import { createSandbox } from '../sandbox/create-sandbox.ts'
import type { SandboxPolicy } from '../sandbox/sandbox.ts'
import { findEnvironment, type EnvironmentFacts } from './environment-facts.ts'
import { renderEnvironment } from './render-context.ts'

const hasSandbox = await sandboxWorks()

let folder = ''
beforeEach(async () => {
  folder = await tempFolder()
})

const find = async (isTrusted = false, policy: SandboxPolicy = 'off'): Promise<EnvironmentFacts> => {
  const access = await createAccess({ cwd: folder, home: '/nowhere', rules: [] })
  const env = { PATH: process.env['PATH'], HOME: folder }
  const machine = { platform: process.platform, architecture: process.arch }
  return await findEnvironment({
    access,
    sandbox: createSandbox({ policy, access, env, machine }),
    cwd: folder,
    additionalFolders: [],
    now: new Date(2026, 0, 5, 12).getTime(),
    platform: 'linux',
    isTrusted,
    env: readingEnvironment(env, [folder]),
  })
}
const git = (...args: string[]): unknown =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { stdio: 'pipe' })

describe('the environment', () => {
  test('outside a repository', async () => {
    expect(renderEnvironment(await find()).replaceAll(folder, '/f')).toBe(
      '<environment>\nAs it was when the conversation began:\nDate: 2026-01-05\nPlatform: linux\nWorking folder: /f\nGit: no repository\n</environment>',
    )
  })

  test('in a repository: branch, status and last commits, bounded', async () => {
    git('init', '-q', '-b', 'main')
    writeFileSync(join(folder, 'a'), '')
    git('add', 'a')
    git('commit', '-qm', 'first')
    for (let i = 0; i < 60; i++) writeFileSync(join(folder, `new-${i}`), '')
    const { git: facts } = await find(true)
    expect(facts?.branch).toBe('main')
    expect(facts?.status?.split('\n')).toHaveLength(41)
    expect(facts?.status?.split('\n').at(-1)).toBe('… and 20 more')
    expect(facts?.commits).toMatch(/^[0-9a-f]+ first$/)
  })

  test('before the first commit', async () => {
    git('init', '-q', '-b', 'main')
    expect((await find(true)).git).toEqual({ branch: 'main', status: '' })
  })

  test('without a sandbox and without trust, git does not run: we read the branch ourselves, here or in a parent folder', async () => {
    git('init', '-q', '-b', 'main')
    const inner = join(folder, 'inner')
    mkdirSync(inner)
    expect((await find()).git).toEqual({ branch: 'main' })
    folder = inner
    expect((await find()).git).toEqual({ branch: 'main' })
  })

  test.runIf(hasSandbox)('in the sandbox, git runs, trusted or not', async () => {
    git('init', '-q', '-b', 'main')
    appendFileSync(join(folder, '.git/config'), `[core]\n\tfsmonitor = touch ${folder}/pwned\n`)
    writeFileSync(join(folder, 'a'), 'x')
    expect((await find(false, 'auto')).git).toEqual({ branch: 'main', status: '?? a' })
    expect(existsSync(join(folder, 'pwned'))).toBe(false)
  })

  test('shows only the branch of a repository above the working folder, trusted or not, with or without the sandbox', async () => {
    git('init', '-q', '-b', 'main')
    writeFileSync(join(folder, 'outside'), 'x')
    folder = join(folder, 'inner')
    mkdirSync(folder)
    for (const policy of hasSandbox ? (['off', 'auto'] as const) : (['off'] as const))
      for (const isTrusted of [false, true])
        expect((await find(isTrusted, policy)).git).toEqual({ branch: 'main' })
  })

  test('programs that the user set up for some kind of file do not run on the files of a repository', async () => {
    git('init', '-q', '-b', 'main')
    writeFileSync(join(folder, 'a'), 'x')
    git('add', 'a')
    git('commit', '-qm', 'first')
    writeFileSync(join(folder, '.gitattributes'), '* filter=x\n')
    writeFileSync(join(folder, 'a'), 'y')
    writeFileSync(join(folder, '.gitconfig'), `[filter "x"]\n\tclean = touch ${folder}/pwned; cat\n`)
    expect((await find(true)).git?.status).toMatch(/^ M a$/m)
    expect(existsSync(join(folder, 'pwned'))).toBe(false)
  })

  test('a repository whose configuration names programs runs none of them, and shows only its branch', async () => {
    git('init', '-q', '-b', 'main')
    writeFileSync(join(folder, 'a'), 'x')
    git('add', 'a')
    git('commit', '-qm', 'first')
    appendFileSync(
      join(folder, '.git/config'),
      `[core]\n\tfsmonitor = touch ${folder}/pwned\n[filter "x"]\n\tclean = touch ${folder}/pwned; cat\n`,
    )
    writeFileSync(join(folder, '.gitattributes'), '* filter=x\n')
    writeFileSync(join(folder, 'a'), 'y')
    for (const isTrusted of [false, true]) expect((await find(isTrusted)).git).toEqual({ branch: 'main' })
    expect(existsSync(join(folder, 'pwned'))).toBe(false)
  })
})
