import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeEach, describe, expect, test } from 'vitest'

import { tempFolder } from '../../../../../test/kit/temp-home.ts'
import { commandEnvironment } from '../process/child-environment.ts'
import { findEnvironment, type EnvironmentFacts } from './environment-facts.ts'
import { renderEnvironment } from './render-context.ts'

let folder = ''
beforeEach(async () => {
  folder = await tempFolder()
})

const find = (isTrusted = false): Promise<EnvironmentFacts> =>
  findEnvironment({
    cwd: folder,
    additionalFolders: [],
    now: new Date(2026, 0, 5, 12).getTime(),
    platform: 'linux',
    isTrusted,
    env: commandEnvironment({ PATH: process.env['PATH'], HOME: folder }, folder),
  })
const git = (...args: string[]): unknown =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { stdio: 'pipe' })

describe('the environment', () => {
  test('outside of a repository', async () => {
    expect(renderEnvironment(await find()).replaceAll(folder, '/f')).toBe(
      '<environment>\nAs it was when the conversation began:\nDate: 2026-01-05\nPlatform: linux\nWorking folder: /f\nGit: no repository\n</environment>',
    )
  })

  test('in a repository: branch, status, last commits, bounded', async () => {
    git('init', '-q', '-b', 'main')
    writeFileSync(join(folder, 'a'), '')
    git('add', 'a')
    git('commit', '-qm', 'first')
    for (let i = 0; i < 60; i++) writeFileSync(join(folder, `new-${i}`), '')
    const { git: facts } = await find()
    expect(facts?.branch).toBe('main')
    expect(facts?.status?.split('\n')).toHaveLength(41)
    expect(facts?.status?.split('\n').at(-1)).toBe('… and 20 more')
    expect(facts?.commits).toMatch(/^[0-9a-f]+ first$/)
  })

  test('before the first commit', async () => {
    git('init', '-q', '-b', 'main')
    expect((await find()).git).toEqual({ branch: 'main', status: '' })
  })

  test('a repository whose configuration runs programs runs none, and only its branch is told', async () => {
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
    expect((await find()).git).toEqual({ branch: 'main' })
    expect(existsSync(join(folder, 'pwned'))).toBe(false)
  })
})
