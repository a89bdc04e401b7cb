import { execFileSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { cases } from '../kit/cases.ts'
import { claudeCodeSession } from '../kit/claude-code-session.ts'
import { createInProcess, type InProcessRan } from '../kit/in-process.ts'

// Anything may lie where the program keeps or looks for something: every command then ends in time, with a sentence and no stack, and what lies
// there stays. The places are those that a session leaves, and those that are only looked for.

const root = realpathSync(mkdtempSync(join(tmpdir(), 'palimpsest-broken-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Stays where it is: a project's folder is named by its path. */
const live = join(root, 'live')
const pristine = join(root, 'pristine')
mkdirSync(live)
const { run, home, folder } = await createInProcess(live)

const ID = '11111111-aaaa-4000-8000-000000000001'
const ENDS_MS_MAX = 45_000
const IN_THE_WAY = 'in the way\n'

const LOOKED_FOR = [
  'user/.claude',
  'user/.claude/CLAUDE.md',
  'user/.claude/projects',
  'home/learned-windows.json',
  'home/spending',
  'home/trusted',
  'home/config',
  'home/flags-payload.json',
  'work/.git',
  'work/.gitignore',
  'work/.claude',
  'work/CLAUDE.local.md',
  'home/CLAUDE.md',
]
const left: string[] = []

beforeAll(async () => {
  mkdirSync(join(folder, '.palimpsest'))
  writeFileSync(join(folder, '.palimpsest/settings.json'), '{}\n')
  writeFileSync(join(folder, 'CLAUDE.md'), 'Be brief.\n')
  writeFileSync(join(folder, 'AGENTS.md'), 'Be brief.\n')
  writeFileSync(join(folder, 'long.jsonl'), claudeCodeSession(30))
  await run(['-p', 'The port is 4711', '--session-id', ID, '--trust'])
  await run(['-p', 'Which?', '--resume', './long.jsonl'])
  await run(['compact'])
  writeFileSync(join(home, 'settings.json'), '{}\n')
  writeFileSync(join(home, 'flags.json'), '{}\n')
  cpSync(live, pristine, { recursive: true })
  left.push(...globSync(['{home,user,work}/**', 'work/.palimpsest/**'], { cwd: live }))
})

const THINGS: { readonly [name: string]: (path: string) => void } = {
  file: (path) => writeFileSync(path, IN_THE_WAY),
  'empty file': (path) => writeFileSync(path, ''),
  'binary file': (path) => writeFileSync(path, Buffer.from([0, 255, 254, 10, 0xc3, 0x28])),
  folder: (path) => mkdirSync(path),
  'link to itself': (path) => symlinkSync(path, path),
  'link to nowhere': (path) => symlinkSync(join(root, 'nowhere', 'at', 'all'), path),
  pipe: (path) => execFileSync('mkfifo', [path]),
}
const DELETE = ['sessions', 'rm', ID]
const COMMANDS = [
  ['-p', 'hi'],
  ['-p', 'hi', '--continue'],
  ['-p', 'hi', '--resume', ID],
  ['-p', 'hi', '--trust'],
  ['sessions', '--json'],
  DELETE,
  ['context'],
  ['context', '--session', ID],
  ['compact'],
  ['undo', 'no-such-id', '--session', ID],
  ['pin', 'no-such-id', '--session', ID],
  ['restore', 'no-such-id', '--session', ID],
  ['recall', 'port'],
  ['recall', 'port', '--session', ID],
  ['doctor', '--bundle', 'bundle.json'],
]

test('whatever is at a path that we use, every command ends with a sentence and leaves it there', async () => {
  // The working folder itself is where we stand.
  const places = [...new Set([...left, ...LOOKED_FOR])].filter((place) => place !== 'work').toSorted()
  expect(places.length).toBeGreaterThan(25)
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...places),
      fc.constantFrom(...Object.keys(THINGS)),
      fc.constantFrom(...COMMANDS),
      async (place, thing, args) => {
        const path = join(live, place)
        rmSync(live, { recursive: true, force: true })
        cpSync(pristine, live, { recursive: true, verbatimSymlinks: true })
        rmSync(path, { recursive: true, force: true })
        mkdirSync(dirname(path), { recursive: true })
        THINGS[thing]?.(path)
        const kind = kindAt(path)
        expectSaid(await inTime(run(args)))
        // Whoever trusts a folder writes that down anew.
        if (args === DELETE || (place.startsWith('home/trusted/') && args.includes('--trust'))) return
        expect(kindAt(path)).toBe(kind)
        // What was learned of windows is only a memory: what is no such is replaced by the next answer.
        if (thing !== 'file' || place === 'home/learned-windows.json') return
        const text = readFileSync(path, 'utf8')
        // The log of the day grows, and keeps what stands in it.
        expect(place.includes('/logs/') ? text.slice(0, IN_THE_WAY.length) : text).toBe(IN_THE_WAY)
      },
    ),
    { ...cases(12, 3_000), examples: EXAMPLES },
  )
})

const EXAMPLES: [string, string, string[]][] = [
  ['home', 'file', ['-p', 'hi']],
  ['home', 'pipe', ['sessions', '--json']],
  ['home/flags.json', 'pipe', ['-p', 'hi']],
  ['home/trusted', 'file', ['-p', 'hi', '--trust']],
  ['home/projects', 'file', ['-p', 'hi']],
  ['work/CLAUDE.md', 'pipe', ['-p', 'hi']],
  ['work/.palimpsest', 'file', ['-p', 'hi']],
]

async function inTime(ran: Promise<InProcessRan>): Promise<InProcessRan> {
  const late = AbortSignal.timeout(ENDS_MS_MAX)
  const { promise, reject } = Promise.withResolvers<never>()
  late.addEventListener('abort', () => reject(new Error(`it did not end within ${ENDS_MS_MAX} ms`)))
  return await Promise.race([ran, promise])
}

function expectSaid({ exit, out, err }: InProcessRan): void {
  expect([0, 1, 2]).toContain(exit)
  expect(out + err).not.toMatch(/\n\s+at |itself failed/)
  if (exit !== 0) expect(out + err).not.toBe('')
}

function kindAt(path: string): string {
  const found = lstatSync(path)
  return found.isSymbolicLink() ? 'link' : found.isDirectory() ? 'folder' : found.isFIFO() ? 'pipe' : 'file'
}
