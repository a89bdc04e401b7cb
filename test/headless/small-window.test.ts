import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createInProcess } from '../kit/in-process.ts'

// A window that cannot hold what stands before the first word: what is advised must work.

test.each([
  [['--window', '1'], {}],
  [['--window', '500'], {}],
  [[], { PALIMPSEST_WINDOW: '900' }],
])('%j %j is refused at once with the least that works, and that works', async (args, env) => {
  const { run } = await createInProcess()
  const refused = await run(['-p', 'hi', ...args], { env })
  expect(refused).toMatchObject({ exit: 2, out: '' })
  const [, least = ''] =
    /^palimpsest: a window of \d+ tokens is too small: the system prompt, the tools and the instructions are about \d+ tokens before anything is said\. The least that works is --window (\d+), or the same in PALIMPSEST_WINDOW or the setting workingWindow\n$/.exec(
      refused.err,
    ) ?? []
  const turn = async (more: readonly string[]): Promise<unknown> =>
    await run(['-p', 'What is in this folder?', '--window', least, ...more])
  expect(await turn([])).toMatchObject({ exit: 0, err: '' })
  expect(await turn(['--continue'])).toMatchObject({ exit: 0 })
  expect((await run(['sessions', '--json'])).out.match(/"id"/g)).toHaveLength(1)
})

test('the least window grows with the instruction files; where no window of the model will do, that is said', async () => {
  const { run, folder } = await createInProcess()
  writeFileSync(join(folder, 'CLAUDE.md'), 'Every rule of this house stands on a line.\n'.repeat(900))
  const { err } = await run(['-p', 'hi', '--window', '5000'])
  const least = Number(/--window (\d+)/.exec(err)?.[1])
  expect(least).toBeGreaterThan(10_000)
  expect(await run(['-p', 'hi', '--window', String(least)])).toMatchObject({ exit: 0 })
  const long = ['--append-system-prompt', 'one more rule. '.repeat(200_000)]
  expect((await run(['-p', 'hi', ...long])).err).toMatch(
    /The least that works is \d+, and palimpsest-offline has \d+: name another model, or shorten the instruction files\n$/,
  )
})

test('a blocking limit that holds nothing is named, with the least that works', async () => {
  const { run } = await createInProcess()
  const { exit, err } = await run(['-p', 'hi'], { env: { PALIMPSEST_BLOCKING_LIMIT: '100' } })
  expect(exit).toBe(2)
  const [, least = ''] =
    /^palimpsest: PALIMPSEST_BLOCKING_LIMIT=100 is too small: .*\. The least that works is (\d+)\n$/.exec(
      err,
    ) ?? []
  expect(await run(['-p', 'hi'], { env: { PALIMPSEST_BLOCKING_LIMIT: least } })).toMatchObject({ exit: 0 })
})

test('a stored session is not compacted for a window that cannot hold it', async () => {
  const { run } = await createInProcess()
  await run(['-p', 'hi'])
  const { exit, err } = await run(['compact'], { env: { PALIMPSEST_WINDOW: '500' } })
  expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining('The least that works is --window') })
})
