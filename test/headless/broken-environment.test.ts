import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { COMMANDS } from '../../packages/palimpsest-cli/src/commands/command-table.ts'
import { agent } from '../../packages/palimpsest-cli/src/commands/agent.ts'
import { cases } from '../kit/cases.ts'
import { createInProcess, type InProcessOptions, type InProcessRan } from '../kit/in-process.ts'

// A new user's machine, and a new user's slips: whatever is set or typed, a command ends in time, with a sentence and no stack.

const root = realpathSync(mkdtempSync(join(tmpdir(), 'palimpsest-environment-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const { run, folder } = await createInProcess(root)

const ID = '11111111-aaaa-4000-8000-000000000001'
const ENDS_MS_MAX = 45_000
const LONG = 'x'.repeat(5_000)
const file = join(root, 'a-file')

beforeAll(async () => {
  writeFileSync(file, 'a file\n')
  mkdirSync(join(folder, 'a-folder'))
  await run(['-p', 'The port is 4711', '--session-id', ID])
})

const gone = join(root, 'gone')
const ENVIRONMENTS: { readonly [name: string]: InProcessOptions } = {
  'nothing wrong': {},
  'no home and none can be made': {
    userHome: '/proc/nobody',
    env: { HOME: undefined, PALIMPSEST_HOME: undefined },
  },
  'a home that is a file': { env: { PALIMPSEST_HOME: file } },
  'a home below a file': { env: { PALIMPSEST_HOME: join(file, 'home') } },
  'a home in /proc': { env: { PALIMPSEST_HOME: '/proc/self/home' } },
  'a home that is a device': { env: { PALIMPSEST_HOME: '/dev/null' } },
  'a home whose name is too long': { env: { PALIMPSEST_HOME: join(root, LONG) } },
  'a home that is empty': { env: { PALIMPSEST_HOME: '' } },
  'a user without a home': { userHome: '', env: { HOME: '', PALIMPSEST_HOME: undefined } },
  'a folder that is gone': { cwd: gone },
  'a folder that is a file': { cwd: file },
  'no programs': { env: { PATH: '' } },
  'no path at all': { env: { PATH: undefined } },
  'a plain terminal': { env: { TERM: 'dumb', NO_COLOR: '1' }, terminal: { columns: 80 } },
  'a narrow terminal': { terminal: { columns: 1 } },
  'no terminal size': { terminal: { columns: 0 }, env: { COLUMNS: 'many' } },
  'another locale': { env: { LANG: 'C', LC_ALL: 'POSIX' } },
  'numbers that are none': {
    env: { PALIMPSEST_WINDOW: 'wide', PALIMPSEST_AUTOCOMPACT_PCT: '900', PALIMPSEST_CONTEXT_TOKENS: '-1' },
  },
  'an address that is none': { env: { PALIMPSEST_BASE_URL: 'localhost' } },
  'an address of another kind': { env: { ANTHROPIC_BASE_URL: 'file:///etc/passwd', ANTHROPIC_API_KEY: 'k' } },
  'an empty model': { env: { PALIMPSEST_MODEL: '' } },
  'a model with odd characters': { env: { PALIMPSEST_MODEL: 'a b\n' } },
  'bytes on stdin': { stdin: '\u0000\uFFFD\u001B[31m' },
}

const VALUES = [
  '',
  ' ',
  '-',
  '--',
  '.',
  '..',
  '/',
  '0',
  '-1',
  '1e99',
  'NaN',
  'x y',
  'ü\n',
  '../../etc/passwd',
  ID,
  'a-folder',
  file,
  LONG,
]
const value = fc.constantFrom(...VALUES)

/** Every command with the flags that it has, some that it has not, and words. */
const line = fc.constantFrom(agent, ...COMMANDS.filter(({ name }) => name !== 'demo')).chain((command) => {
  // With it a stack is wanted.
  const options = Object.entries(command.options).filter(([name]) => name !== 'debug')
  const flag = fc
    .constantFrom(...options, ['colour', { type: 'boolean' as const }] as const)
    .chain(([name, { type }]) =>
      type === 'boolean'
        ? fc.constant([`--${name}`])
        : fc.oneof(
            value.map((text) => [`--${name}=${text}`]),
            value.map((text) => [`--${name}`, text]),
            fc.constant([`--${name}`]),
          ),
    )
  const words = fc.array(value, { maxLength: 2 })
  const start = command.name === agent.name ? ['-p'] : [command.name]
  return fc
    .tuple(fc.array(flag, { maxLength: 3 }), words)
    .map(([flags, more]) => [...start, ...flags.flat(), ...more])
})
const plainLine = fc.constantFrom(
  ['-p', 'hi'],
  ['-p', 'hi', '--continue', '--output-format', 'stream-json'],
  ['sessions'],
  ['context', '--session', ID],
  ['recall', 'port'],
  ['compact', '--session', ID],
  ['doctor'],
  ['replay'],
  ['--help'],
  ['--version'],
  ['help'],
  ['memory', 'list'],
  ['no-such-command'],
  [],
)

test('whatever is wrong with the machine and whatever is typed, a command ends with a sentence', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(ENVIRONMENTS)),
      fc.oneof(line, plainLine),
      async (name, args) => {
        fc.pre(isQuick(args))
        expectSaid(await ended(args, ENVIRONMENTS[name] ?? {}))
      },
    ),
    cases(40, 6_000),
  )
})

/** A replay takes seconds, and over a whole disk longer: only those that have nothing to replay. */
function isQuick([name, ...words]: readonly string[]): boolean {
  if (name !== 'replay') return name !== undefined
  const looksAround = words.some((word) => word === '/' || word === '..' || word === '.')
  return !looksAround && !words.every((word) => word.startsWith('-'))
}

test('a user without a home is told so, and nothing is written to the working folder', async () => {
  const own = join(root, 'own')
  mkdirSync(own)
  const { exit, err } = await run(['-p', 'hi'], { cwd: own, ...ENVIRONMENTS['a user without a home'] })
  expect({ exit, err, left: readdirSync(own) }).toEqual({
    exit: 2,
    err: 'palimpsest: there is no home folder: HOME is empty. Set HOME or PALIMPSEST_HOME to a folder\n',
    left: [],
  })
})

/** Whoever may read everything cannot be refused. */
const isRoot = process.getuid?.() === 0
test.skipIf(isRoot)('every command that needs the home says if it cannot be read', async () => {
  const closed = join(root, 'closed')
  mkdirSync(closed, { mode: 0 })
  for (const args of [['sessions'], ['context'], ['recall', 'port'], ['sessions', 'rm', ID], ['-p', 'hi']]) {
    const { exit, err } = await run(args, { env: { PALIMPSEST_HOME: closed } })
    expect({ args, exit, err }).toEqual({ args, exit: 1, err: expect.stringContaining('does not allow it') })
  }
})

async function ended(args: readonly string[], options: InProcessOptions): Promise<InProcessRan> {
  // Servers go on until they are stopped.
  const signal = AbortSignal.timeout(args[0] === 'sim' ? 100 : ENDS_MS_MAX)
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`not ended: ${args.join(' ')}`)), ENDS_MS_MAX).unref()
  })
  return await Promise.race([run(args, { ...options, signal }), late])
}

function expectSaid({ exit, out, err }: InProcessRan): void {
  expect([0, 1, 2]).toContain(exit)
  expect(out + err).not.toMatch(/\n\s+at |itself failed/)
  if (exit !== 0) expect(out + err).not.toBe('')
  if (exit === 2) expect(err).toMatch(/^palimpsest: /m)
}
