import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { beforeEach, describe, expect, test } from 'vitest'

import { tempFolder } from '../../../../../test/kit/temp-home.ts'
import { storeRules, forgetRule } from '../permissions/always/stored-rules.ts'
import { listRules } from '../permissions/listed-rules.ts'
import { addOwnRule, removeOwnRule } from './change-own-settings.ts'
import { rememberTrust } from './trust.ts'

let home = ''
let project = ''
beforeEach(async () => {
  const root = await tempFolder()
  home = join(root, 'home')
  project = join(root, 'project')
  await mkdir(home)
  await mkdir(join(project, '.palimpsest'), { recursive: true })
})

const NPM = { effect: 'allow', tool: 'Bash', pattern: 'npm test:*', text: 'Bash(npm test:*)' } as const
const ENV = { effect: 'deny', tool: 'Read', pattern: '.env', text: 'Read(.env)' } as const

describe('rules of the user', () => {
  test('are added to the settings and removed again; the rest of the file stays as it was written', async () => {
    const path = join(home, 'settings.json')
    await writeFile(path, '{\n    "model": "m",\n    "cleanup": 1\n}\n')
    await addOwnRule(home, NPM)
    await addOwnRule(home, NPM)
    await addOwnRule(home, ENV)
    const text = await readFile(path, 'utf8')
    expect(text).toContain('{\n    "model": "m",\n    "cleanup": 1,\n')
    expect(JSON.parse(text)).toMatchObject({ permissions: { allow: [NPM.text], deny: [ENV.text] } })
    expect(await removeOwnRule(home, NPM)).toBe(true)
    expect(await removeOwnRule(home, NPM)).toBe(false)
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({
      model: 'm',
      permissions: { allow: [], deny: [ENV.text] },
    })
  })

  test('do not overwrite a file that cannot be read', async () => {
    await writeFile(join(home, 'settings.json'), '{"model": ')
    await expect(addOwnRule(home, NPM)).rejects.toThrow(/not a JSON object/)
    expect(await readFile(join(home, 'settings.json'), 'utf8')).toBe('{"model": ')
  })

  test('are listed with where they come from', async () => {
    await addOwnRule(home, NPM)
    await writeFile(
      join(project, '.palimpsest/settings.json'),
      '{"permissions": {"ask": ["Bash(git push:*)"], "allow": ["Bash(npm test:*)"]}}',
    )
    const always = { effect: 'allow', tool: 'Bash', pattern: 'make', text: 'Bash(make)' } as const
    await storeRules(home, project, [{ ...always, always: { folder: project } }])
    const places = { home, projectFolder: project, projectHome: home, cwd: project, allowed: [ENV] }
    const listed = async () =>
      (await listRules(places)).map(({ rule, source }) => `${source}: ${rule.effect} ${rule.text}`)
    const own = ['user: allow Bash(npm test:*)', 'always: allow Bash(make)', 'flag: deny Read(.env)']
    expect(await listed()).toEqual(own)
    await rememberTrust(home, project, 0)
    expect(await listed()).toEqual([own[0], 'project: ask Bash(git push:*)', ...own.slice(1)])
    await forgetRule(home, project, always)
    expect(await listed()).not.toContain(own[1])
  })
})
