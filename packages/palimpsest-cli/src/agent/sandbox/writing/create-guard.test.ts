import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createWorkbench, type Workbench } from '../../../../../../test/kit/workbench.ts'
import { createGuard, type Guard } from './create-guard.ts'

// What a command in the sandbox left that runs by itself, where there is no room to move it to. The test writes what the command would.

const END = { wasKilled: false }

let bench: Workbench
let guard: Guard
let quarantine: string
beforeEach(async () => {
  bench = await createWorkbench()
  quarantine = join(bench.sessionFolder, 'quarantine')
  guard = createGuard({
    access: bench.access,
    quarantine,
    alsoProtected: async () => [],
    now: Date.now,
  })
})
afterEach(() => bench.dispose())

const inWork = (name: string): string => join(bench.work, name)
/** No folder can be made where a file is, not even by root. */
const block = (): void => writeFileSync(quarantine, '')
const stuckAt = (name: string): unknown => ({
  path: inWork(name),
  id: expect.any(String),
  target: undefined,
  why: expect.any(String),
})

describe('an intruder that cannot be moved away', () => {
  test('is reported with the reason, stays where it was, and nothing more runs in the sandbox', async () => {
    await guard.enter()
    writeFileSync(inWork('.envrc'), 'evil')
    block()
    expect(await guard.leave(END)).toEqual({ moved: [], stuck: [stuckAt('.envrc')] })
    expect(readFileSync(inWork('.envrc'), 'utf8')).toBe('evil')
    expect(await guard.enter()).toEqual({
      ok: false,
      why: expect.stringContaining(`${inWork('.envrc')} could not be moved away: `),
    })
    expect([await guard.settle(), guard.isIdle()]).toEqual([[stuckAt('.envrc')], false])
  })

  test('does not keep the others from being moved once there is room, and they are reported once', async () => {
    await guard.enter()
    mkdirSync(inWork('sub/.git'), { recursive: true })
    writeFileSync(inWork('.envrc'), 'evil')
    block()
    await guard.leave(END)
    rmSync(quarantine)
    expect(await guard.settle()).toEqual([])
    expect(readdirSync(bench.work)).toEqual(['sub'])
    expect(
      guard
        .takeUntold()
        .map(({ from }) => from)
        .toSorted(),
    ).toEqual([inWork('.envrc'), inWork('sub/.git')])
    expect([guard.takeUntold(), guard.isIdle()]).toEqual([[], true])
    expect(await guard.enter()).toMatchObject({ ok: true })
  })

  test('is settled when somebody removes it, or puts another file there', async () => {
    await guard.enter()
    for (const name of ['.envrc', '.npmrc']) writeFileSync(inWork(name), 'evil')
    block()
    await guard.leave(END)
    rmSync(inWork('.envrc'))
    writeFileSync(inWork('own'), 'the user’s own')
    rmSync(inWork('.npmrc'))
    symlinkSync('own', inWork('.npmrc'))
    expect(await guard.settle()).toEqual([])
    expect(readFileSync(inWork('.npmrc'), 'utf8')).toBe('the user’s own')
  })

  test('is no excuse to move what the user made since', async () => {
    await guard.enter()
    writeFileSync(inWork('.envrc'), 'evil')
    block()
    await guard.leave(END)
    writeFileSync(inWork('.npmrc'), 'the user’s own')
    rmSync(quarantine)
    await guard.settle()
    expect([existsSync(inWork('.envrc')), existsSync(inWork('.npmrc'))]).toEqual([false, true])
  })

  test('and was a link before becomes that link again', async () => {
    symlinkSync('a', inWork('.envrc'))
    await guard.enter()
    rmSync(inWork('.envrc'))
    writeFileSync(inWork('.envrc'), 'evil')
    block()
    expect((await guard.leave(END)).stuck).toEqual([{ ...Object(stuckAt('.envrc')), target: 'a' }])
    rmSync(quarantine)
    await guard.settle()
    writeFileSync(inWork('a'), 'as before')
    expect(readFileSync(inWork('.envrc'), 'utf8')).toBe('as before')
  })
})
