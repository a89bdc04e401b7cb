import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { tempFolder } from '../../../../../test/kit/temp-home.ts'
import { createAccess } from './access.ts'

test('private places count by name and by real path: absent, present, linked, and in a home that is a link', async () => {
  const root = await realpath(await tempFolder())
  const [real, home] = [join(root, 'real'), join(root, 'home')]
  await mkdir(join(real, '.config/gh'), { recursive: true })
  await mkdir(join(root, 'keys'))
  await symlink(real, home)
  await symlink('../keys', join(real, '.ssh'))
  await symlink(join(root, 'nowhere'), join(real, '.aws'))
  await writeFile(join(real, '.npmrc'), '')
  const { privatePlaces } = await createAccess({ cwd: root, home, rules: [] })
  for (const [name, place] of [
    ['.ssh', join(root, 'keys')],
    ['.aws', join(root, 'nowhere')],
    ['.npmrc', join(real, '.npmrc')],
    ['.config/gh', join(real, '.config/gh')],
    // None of these is there, of some not even the folder.
    ['.config/op', join(real, '.config/op')],
    ['.gnupg', join(real, '.gnupg')],
    ['.local/share/keyrings', join(real, '.local/share/keyrings')],
  ] as const)
    expect(privatePlaces).toEqual(expect.arrayContaining([join(home, name), place]))
})

test('the private places of a home that does not exist count all the same', async () => {
  const root = await realpath(await tempFolder())
  const home = join(root, 'not-there')
  const { privatePlaces } = await createAccess({ cwd: root, home, rules: [] })
  expect(privatePlaces).toContain(join(home, '.ssh'))
  expect(privatePlaces).toContain(join(home, '.config/gh'))
})
