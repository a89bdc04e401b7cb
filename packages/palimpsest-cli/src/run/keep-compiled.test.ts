import { chmod, mkdir, readdir, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { tempFolder } from '../../../../test/kit/temp-home.ts'
import { keepCompiled } from './keep-compiled.ts'

const kept = (home: string): boolean =>
  keepCompiled({ env: { PALIMPSEST_HOME: home }, cwd: '/', userHome: '/' })

test('compiled code is kept in a home of the user, where nobody else sees it', async () => {
  const home = join(await tempFolder(), 'home')
  await mkdir(home, { mode: 0o700 })
  expect(kept(home)).toBe(true)
  expect((await stat(join(home, 'compiled'))).mode & 0o777).toBe(0o700)
})

test('a home that does not exist is not created for it', async () => {
  const root = await tempFolder()
  expect(kept(join(root, 'home'))).toBe(false)
  expect(await readdir(root)).toEqual([])
})

test('none is kept where others could put their own code in its place', async () => {
  const root = await tempFolder()
  const [open, linked, elsewhere] = [join(root, 'open'), join(root, 'linked'), join(root, 'elsewhere')]
  for (const folder of [open, linked, elsewhere]) await mkdir(folder, { mode: 0o700 })
  await chmod(open, 0o770)
  await symlink(elsewhere, join(linked, 'compiled'))
  expect([kept(open), kept(linked)]).toEqual([false, false])
  expect(await readdir(elsewhere)).toEqual([])
})
