import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createWorkbench, type Workbench } from '../../../../../test/kit/workbench.ts'

let bench: Workbench
beforeEach(async () => {
  bench = await createWorkbench({ mode: 'accept-edits' })
  mkdirSync(join(bench.work, '.git'))
})
afterEach(() => bench.dispose())

const isFree = async (file_path: string): Promise<boolean> =>
  (await bench.permit('Write', { file_path, content: 'x' })).allow
const config = (text: string, folder = bench.work): void =>
  appendFileSync(join(folder, '.git', 'config'), text.replaceAll('{work}', bench.work))

describe('what the configuration of a repository names is not written unasked in accept-edits mode', () => {
  test.each([
    ['[core]\n\thooksPath = checks\n', 'checks/post-checkout'],
    ['[core]\n\thooksPath = {work}/checks\n', 'checks/post-checkout'],
    ['[core]\n\thooksPath = "./checks/"\n', 'checks/deep/post-checkout'],
    ['[core]\n\thooksPath = linked\n', 'real/post-checkout'],
    ['[core]\n\tfsmonitor = tools/watch.sh\n', 'tools/watch.sh'],
    ['[core]\n\tfsmonitor = {work}/tools/watch.sh --x\n', 'tools/watch.sh'],
    ['[filter "x"]\n\tclean = ./tools/clean.sh %f\n', 'tools/clean.sh'],
    ['[filter "x"]\n\tclean = "sh -c \'cat; tools/clean.sh\'"\n', 'tools/clean.sh'],
    ['[diff "x"]\n\ttextconv = node show.js\n', 'show.js'],
    ['[alias]\n\tst = "!tools/st.sh"\n', 'tools/st.sh'],
    ['[gpg]\n\tprogram = tools/sign\n', 'tools/sign'],
    ['[merge "x"]\n\tdriver = tools/merge %O %A %B\n', 'tools/merge'],
    ['[include]\n\tpath = ../more.inc\n', 'more.inc'],
    ['[include]\n\tpath = ../more.inc\n', 'named-there/post-checkout'],
  ])('%j: %s', async (text, path) => {
    mkdirSync(join(bench.work, 'real'))
    symlinkSync('real', join(bench.work, 'linked'))
    writeFileSync(join(bench.work, 'more.inc'), '[core]\n\thooksPath = named-there\n')
    expect(await isFree(path)).toBe(true)
    config(text)
    expect(await isFree(path)).toBe(false)
    expect(await isFree('other.txt')).toBe(true)
  })

  test('a repository below, one above, and the one that a worktree belongs to', async () => {
    mkdirSync(join(bench.work, 'inner', '.git'), { recursive: true })
    config('[core]\n\thooksPath = checks\n', join(bench.work, 'inner'))
    expect(await isFree('inner/checks/post-checkout')).toBe(false)
    expect(await isFree('checks/post-checkout')).toBe(true)

    config('[core]\n\thooksPath = inner/deep\n')
    const inner = await createWorkbench({ mode: 'accept-edits', work: join(bench.work, 'inner') })
    const input = { file_path: 'deep/post-checkout', content: 'x' }
    expect((await inner.permit('Write', input)).allow).toBe(false)
    await inner.dispose()

    const [main, tree] = [join(bench.outside, 'main'), join(bench.outside, 'tree')]
    mkdirSync(join(main, '.git', 'worktrees', 'tree'), { recursive: true })
    mkdirSync(tree)
    writeFileSync(join(main, '.git', 'worktrees', 'tree', 'commondir'), '../..\n')
    writeFileSync(join(tree, '.git'), `gitdir: ${join(main, '.git', 'worktrees', 'tree')}\n`)
    config('[core]\n\thooksPath = deep\n', main)
    const linked = await createWorkbench({ mode: 'accept-edits', work: tree })
    expect((await linked.permit('Write', input)).allow).toBe(false)
    expect((await linked.permit('Write', { ...input, file_path: 'x' })).allow).toBe(true)
    await linked.dispose()
  })

  test('what the user’s own configuration names for all repositories', async () => {
    writeFileSync(join(bench.home, '.gitconfig'), '[core]\n\thooksPath = checks\n')
    config('[core]\n\tbare = false\n')
    expect(await isFree('checks/post-checkout')).toBe(false)
  })

  test('a rule that names the very file allows it; one that reaches it by a wildcard does not', async () => {
    config('[filter "x"]\n\tclean = tools/clean.sh\n')
    for (const [rule, free] of [
      ['Edit(tools/clean.sh)', true],
      ['Edit(tools/**)', false],
      ['Edit(./**)', false],
    ] as const) {
      const other = await createWorkbench({ work: bench.work, rules: { allow: [rule] } })
      const { allow } = await other.permit('Write', { file_path: 'tools/clean.sh', content: 'x' })
      await other.dispose()
      expect([rule, allow]).toEqual([rule, free])
    }
  })
})
