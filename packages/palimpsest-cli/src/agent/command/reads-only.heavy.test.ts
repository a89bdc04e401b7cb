import { execFile } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { OTHER_LINES, READING_LINES } from '../../../../../test/kit/shell-lines.ts'
import { commandEnvironment } from '../process/child-environment.ts'
import { parseShell } from './parse-shell.ts'
import { readsOnly } from './reads-only.ts'

// The judge is bash itself. First with stubs in place of every program: what did the line really run, which files did it open for
// writing? Then with the real programs: does a line that only reads leave the folder as it was?

const STUBS = [
  ...'rm touch mkdir mv cp chmod ln tee curl npm python3 node bash sh xargs env nohup timeout nice sudo evil'.split(
    ' ',
  ),
  ...'ls cat head tail wc sort uniq grep find sed awk cut tr diff stat file du date uname hostname nproc'.split(
    ' ',
  ),
  ...'whoami id git tree seq tac nl rg jq ps sleep'.split(' '),
]
const HARMLESS = new Set(
  'ls cat head tail wc sort uniq grep find sed awk cut tr diff stat file du date uname hostname nproc whoami id git tree seq tac nl rg jq ps sleep node'.split(
    ' ',
  ),
)

const root = mkdtempSync(join(tmpdir(), 'palimpsest-shell-'))
const stubs = join(root, 'stubs')
const log = join(root, 'log')

beforeAll(() => {
  mkdirSync(stubs)
  for (const name of STUBS) {
    const path = join(stubs, name)
    writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' '${name}' >> '${log}'\n`)
    chmodSync(path, 0o755)
  }
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe('what bash really does', () => {
  test.each([...READING_LINES, ...OTHER_LINES])('%j', async (line) => {
    const truth = await runWithStubs(line)
    const text = parseShell(line)
    const verdict = readsOnly(line)
    if (verdict.readsOnly) {
      expect(truth.ran.filter((name) => !HARMLESS.has(name))).toEqual([])
      expect(truth.made).toEqual([])
    }
    if (text.readable) {
      const named = new Set(text.commands.map(({ name }) => name))
      expect(truth.ran.filter((name) => !named.has(name))).toEqual([])
    }
  })

  test('the lists are long enough to mean something', () => {
    expect(READING_LINES.length + OTHER_LINES.length).toBeGreaterThanOrEqual(250)
  })
})

describe('the verdict', () => {
  test.each(READING_LINES)('%j only reads', (line) => {
    expect(readsOnly(line)).toMatchObject({ readsOnly: true })
  })
  test.each(OTHER_LINES)('%j is not known to only read', (line) => {
    expect(readsOnly(line)).toMatchObject({ readsOnly: false })
  })
})

describe('with the real programs', () => {
  const folder = join(root, 'real')
  beforeAll(async () => {
    makeFiles(folder)
    for (const line of [
      'git init -q',
      'git add a.txt src',
      'git -c user.name=t -c user.email=t@t commit -qm one',
    ]) {
      await bash(line, folder)
    }
    writeFileSync(join(folder, 'a.txt'), 'alpha, 1\nchanged, 2\n')
  })

  test('(S1) lines that only read leave every file as it was', async () => {
    const before = snapshot(folder)
    for (const line of READING_LINES) {
      await bash(line, folder)
      expect([line, snapshot(folder)]).toEqual([line, before])
    }
  })
})

describe('any line', () => {
  // Words, operators and quotes put together at random: most lines are nonsense, some are traps.
  const pieces = fc.constantFrom(
    ...[
      'ls',
      'cat',
      'rm',
      'x',
      'a.txt',
      'sort',
      '-o',
      'find',
      '-delete',
      ';',
      '&&',
      '||',
      '|',
      '&',
      '\n',
      '$(',
      ')',
      '`',
      '"',
      "'",
    ],
    ...[
      '{',
      '}',
      '(',
      '((',
      '))',
      '>',
      '>>',
      '<',
      '<<E',
      'E',
      '<<<',
      '<(',
      '>(',
      '$x',
      '${x',
      ':-',
      '=',
      'y=',
      '[',
      '[[',
      ']]',
      '*',
      '\\',
      '#',
    ],
    ...[
      'if',
      'then',
      'fi',
      'for',
      'in',
      'do',
      'done',
      'case',
      'esac',
      'time',
      '!',
      'eval',
      'echo',
      'PATH=.',
      '$((',
      '2>&1',
      '/dev/null',
      '~',
    ],
  )
  test('that counts as only reading runs nothing else and writes nothing, says bash', async () => {
    const lines = fc.sample(
      fc.array(pieces, { minLength: 1, maxLength: 9 }),
      cases(30_000, 1_000_000).numRuns,
    )
    const trusted = [...new Set(lines.map((words) => words.join(' ')))].filter(
      (line) => readsOnly(line).readsOnly,
    )
    for (const line of trusted.slice(0, cases(150, 5_000).numRuns)) {
      const truth = await runWithStubs(line)
      expect([line, truth.ran.filter((name) => !HARMLESS.has(name)), truth.made]).toEqual([line, [], []])
    }
    expect(trusted.length).toBeGreaterThan(50)
  })

  test('of any characters is judged without a throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (line) => {
        expect(typeof readsOnly(line).readsOnly).toBe('boolean')
      }),
      cases(2_000, 200_000),
    )
  })
})

interface Truth {
  readonly ran: readonly string[]
  readonly made: readonly string[]
}

async function runWithStubs(line: string): Promise<Truth> {
  const folder = mkdtempSync(join(root, 'run-'))
  makeFiles(folder)
  const before = snapshot(folder)
  writeFileSync(log, '')
  await new Promise<void>((resolve) => {
    const options = { cwd: folder, env: { PATH: stubs, HOME: folder }, timeout: 5_000 }
    // Arguments are bounded; a line that is too long for the system runs nothing.
    if (Buffer.byteLength(line) > 100_000) return resolve()
    const child = execFile('/bin/bash', ['-c', line], options, () => resolve())
    child.stdin?.end()
  })
  const after = snapshot(folder)
  const made = [...after].filter(([name, content]) => before.get(name) !== content).map(([name]) => name)
  rmSync(folder, { recursive: true, force: true })
  return { ran: readFileSync(log, 'utf8').split('\n').filter(Boolean), made }
}

function makeFiles(folder: string): void {
  mkdirSync(join(folder, 'src'), { recursive: true })
  writeFileSync(join(folder, 'a.txt'), 'alpha, 1\nbeta, 2\n')
  writeFileSync(join(folder, 'b.txt'), 'beta, 2\n')
  writeFileSync(join(folder, 'a b.txt'), 'space\n')
  writeFileSync(join(folder, 'data.json'), '{}')
  writeFileSync(join(folder, 'src/deep.txt'), 'alpha\n')
  // Names like options: a pattern turns into them.
  for (const name of ['-o', '--output=pwned', '-delete', '-rf']) writeFileSync(join(folder, name), 'trap\n')
  symlinkSync('a.txt', join(folder, 'link.txt'))
}

function bash(line: string, folder: string): Promise<void> {
  const env = commandEnvironment({ PATH: process.env['PATH'], HOME: folder }, folder)
  return new Promise((resolve) => {
    const child = execFile('/bin/bash', ['-c', line], { cwd: folder, env, timeout: 20_000 }, () => resolve())
    child.stdin?.end()
  })
}

function snapshot(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Map(
    names
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted()
      .map((path) => [path.slice(folder.length), readFileSync(path, 'latin1')]),
  )
}
