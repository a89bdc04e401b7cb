import { chmod, chown, mkdir, readdir, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { createCommandBench } from '../../../../test/kit/command-bench.ts'
import { text } from '../../../../test/kit/headless.ts'
import { tempFolder } from '../../../../test/kit/temp-home.ts'
import { findHomeRisk } from './home-risk.ts'

async function open(mode: number, parentMode = 0o700): Promise<string> {
  const parent = join(await tempFolder(), 'parent')
  const home = join(parent, 'home')
  await mkdir(home, { recursive: true })
  await chmod(home, mode)
  await chmod(parent, parentMode)
  return home
}

describe('a home in which others can write', () => {
  test.each([0o700, 0o750, 0o755, 0o500])('is not one of mode %o', async (mode) => {
    expect(await findHomeRisk(await open(mode))).toBeUndefined()
  })

  test.each([0o777, 0o770, 0o775, 0o722, 0o702, 0o1777])('is one of mode %o', async (mode) => {
    const home = await open(mode)
    expect(await findHomeRisk(home)).toBe(
      `others can write in ${home}, and so change your settings and what you allowed: run chmod 700 ${home}`,
    )
  })

  test('is one that others can replace, unless only its owner may rename it', async () => {
    const home = await open(0o700, 0o777)
    expect(await findHomeRisk(home)).toMatch(
      /^others can write in .*parent, and so put another folder in place of .*home: /,
    )
    expect(await findHomeRisk(await open(0o700, 0o1777))).toBeUndefined()
    expect(await findHomeRisk(await open(0o700, 0o775))).toBeUndefined()
  })

  test('is checked where it really is', async () => {
    const home = await open(0o777)
    const link = join(await tempFolder(), 'link')
    await symlink(home, link)
    expect(await findHomeRisk(link)).toContain(`run chmod 700 ${home}`)
  })

  test('is one that another user owns; the system’s own folders belong to nobody', async () => {
    const home = await open(0o700)
    const { uid } = await stat(home)
    if (uid === 0) await chown(home, 12_345, 12_345)
    expect(await findHomeRisk(home, uid === 0 ? 0 : uid + 1)).toMatch(/belongs to another user/)
    expect(await findHomeRisk('/usr/share')).toBeUndefined()
    expect(await findHomeRisk(join(home, 'not there'))).toBeUndefined()
  })
})

test('is used, and reported: once at the start of a run, and by doctor', async () => {
  const bench = await createCommandBench({ script: [{ content: [text('Four.')], times: 2 }] })
  await bench.run(['-p', 'first'])
  const made = await readdir(bench.home, { recursive: true })
  expect(made.length).toBeGreaterThan(3)
  for (const name of ['.', ...made]) expect((await stat(join(bench.home, name))).mode & 0o077).toBe(0)
  await chmod(bench.home, 0o777)
  const { exit, out, err } = await bench.run(['-p', 'two and two?'])
  expect({ exit, out }).toEqual({ exit: 0, out: 'Four.\n' })
  expect(err.match(/others can write in .*: run chmod 700/g)).toHaveLength(1)
  const doctor = await bench.run(['doctor'])
  expect(doctor.exit).toBe(1)
  expect(doctor.out).toContain(`BAD   home            others can write in ${bench.home}`)
})
