import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { serve } from '../../packages/palimpsest/src/node/serving/serve.ts'
import { createSimulator } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { put } from '../kit/headless.ts'
import { createInProcess } from '../kit/in-process.ts'

// A window that cannot hold what stands before the first word: what is advised must work.

const REFUSED =
  /^palimpsest: a window of \d+ tokens is too small: the system prompt, the tools and the instructions take about \d+ tokens before the first message\. Set (.*)\n$/

type Env = { readonly [name: string]: string }
type Refused = readonly [args: readonly string[], env: Env, words: string]

const REFUSALS: readonly Refused[] = [
  [['--window', '1'], {}, 'What is in this folder?'],
  [[], { PALIMPSEST_WINDOW: '900' }, 'hi'],
]
const FURTHER_REFUSALS: readonly Refused[] = [[['--window', '500'], {}, 'hi']]

test.each(process.env['SOAK'] ? [...REFUSALS, ...FURTHER_REFUSALS] : REFUSALS)(
  '%j %j is refused at once, and the error names a window that works',
  async (args, env, words) => {
    const { run } = await createInProcess()
    const refused = await run(['-p', 'hi', ...args], { env })
    expect(refused).toMatchObject({ exit: 2, out: '' })
    const [, advice = ''] = REFUSED.exec(refused.err) ?? []
    const [, least = ''] = /^--window (\d+) or PALIMPSEST_WINDOW=\1$/.exec(advice) ?? []
    const turn = async (more: readonly string[]): Promise<unknown> =>
      await run(['-p', words, '--window', least, ...more])
    expect(await turn([])).toMatchObject({ exit: 0, err: '' })
    expect(await turn(['--continue'])).toMatchObject({ exit: 0 })
    expect((await run(['sessions', '--json'])).out.match(/"id"/g)).toHaveLength(1)
  },
)

type TooSmall = readonly [what: string, settings: { readonly workingWindow?: number }, env: Env]

// Each that bounds the window, alone and together: whoever does all that is advised has a window that works.
const TOO_SMALL: readonly TooSmall[] = [
  ['the setting', { workingWindow: 1_700 }, {}],
  ['what the model is declared to accept', {}, { PALIMPSEST_CONTEXT_TOKENS: '600' }],
  ['all of them', { workingWindow: 1_700 }, { PALIMPSEST_CONTEXT_TOKENS: '600', PALIMPSEST_WINDOW: '800' }],
]
const FURTHER_TOO_SMALL: readonly TooSmall[] = [
  ['the setting and the environment', { workingWindow: 1_700 }, { PALIMPSEST_WINDOW: '800' }],
]

test.each(process.env['SOAK'] ? [...TOO_SMALL, ...FURTHER_TOO_SMALL] : TOO_SMALL)(
  'too small because of %s: the advice works',
  async (_what, settings, env) => {
    const served = await serve(createSimulator({ switches: { unknownModel: 'accept' } }).fetch)
    onTestFinished(async () => await served.close())
    const { run, home } = await createInProcess()
    const set = async (values: object): Promise<void> =>
      await put(join(home, 'settings.json'), JSON.stringify(values))
    const say = ['-p', 'hi', '--base-url', served.url, '--model', 'claude-nobody-knows']
    await set(settings)
    const refused = await run(say, { env })
    expect(refused).toMatchObject({ exit: 2, out: '' })
    const [, advice = ''] = REFUSED.exec(refused.err) ?? []
    const named = [...advice.matchAll(/(PALIMPSEST_\w+)=(\d+)/g)].map(([, name = '', tokens]) => [
      name,
      tokens,
    ])
    const [, working] = /"workingWindow": (\d+) in the settings/.exec(advice) ?? []
    await set(working === undefined ? settings : { workingWindow: Number(working) })
    expect(await run(say, { env: { ...env, ...Object.fromEntries(named) } })).toMatchObject({ exit: 0 })
  },
)

test('the smallest window grows with the instruction files; if no window of the model is enough, the error says so', async () => {
  const { run, folder } = await createInProcess()
  writeFileSync(join(folder, 'CLAUDE.md'), 'Every rule of this house stands on a line.\n'.repeat(900))
  const { err } = await run(['-p', 'hi', '--window', '5000'])
  const least = Number(/--window (\d+)/.exec(err)?.[1])
  expect(least).toBeGreaterThan(10_000)
  expect(await run(['-p', 'hi', '--window', String(least)])).toMatchObject({ exit: 0 })
  const long = ['--append-system-prompt', 'one more rule. '.repeat(200_000)]
  expect((await run(['-p', 'hi', ...long])).err).toMatch(
    /\. It takes \d+ tokens, and palimpsest-offline has \d+: use another model, or shorten the instruction files\n$/,
  )
})

test('a blocking limit that leaves no room is named, with one that works', async () => {
  const { run } = await createInProcess()
  const { exit, err } = await run(['-p', 'hi'], { env: { PALIMPSEST_BLOCKING_LIMIT: '100' } })
  expect(exit).toBe(2)
  const [, least = ''] =
    /^palimpsest: PALIMPSEST_BLOCKING_LIMIT=100 is too small: .*\. Set it to (\d+) or more\n$/.exec(err) ?? []
  expect(await run(['-p', 'hi'], { env: { PALIMPSEST_BLOCKING_LIMIT: least } })).toMatchObject({ exit: 0 })
})

test('a stored session is not compacted for a window too small to hold it', async () => {
  const { run } = await createInProcess()
  await run(['-p', 'hi'])
  const { exit, err } = await run(['compact'], { env: { PALIMPSEST_WINDOW: '500' } })
  expect({ exit, err }).toEqual({
    exit: 2,
    err: expect.stringMatching(/Set --window \d+ or PALIMPSEST_WINDOW=\d+\n$/),
  })
})
