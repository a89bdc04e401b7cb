import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import fc from 'fast-check'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import { cases } from '../../../../../../test/kit/cases.ts'
import { runLines } from '../../../../../../test/kit/run-lines.ts'
import { createWorkbench, type Workbench } from '../../../../../../test/kit/workbench.ts'
import type { PermissionAnswer } from '../create-permit.ts'

// The judge is bash: after `npm test` and `git push` were allowed for good, lines made of them and of what nobody allowed go to the
// permit, and those that it lets through are run, with stubs that write down how they were called.

let bench: Workbench
let stubs: string
let log: string
let answer: PermissionAnswer = { kind: 'always' }

/** Nobody allowed these. */
const OTHERS = ['evil', 'touch', 'psql', 'node']
const APPROVED = ['npm test', 'git push origin "a  b"']

beforeAll(async () => {
  bench = await createWorkbench({ answer: () => answer })
  stubs = join(bench.root, 'stubs')
  log = join(bench.root, 'log')
  mkdirSync(stubs)
  mkdirSync(join(bench.work, 'sub'))
  writeFileSync(join(bench.work, 'a.txt'), 'evil\n')
  // In one piece: calls may run side by side.
  const script = `#!/bin/bash\ncalled=$(printf '%s' "\${0##*/}"; [ $# -eq 0 ] || printf ' [%s]' "$@"; printf ' in %s with (%s)' "$PWD" "$(tr '\\n' ' ')")\nprintf '%s\\n' "$called" >> '${log}'\n`
  for (const name of ['npm', 'git', ...OTHERS]) {
    writeFileSync(join(stubs, name), script)
    chmodSync(join(stubs, name), 0o755)
  }
  for (const command of APPROVED) await bench.permit('Bash', { command })
  answer = { kind: 'no' }
})
afterAll(() => bench.dispose())

/** The line that would run; undefined where somebody is asked. A line that only reads is written anew. */
async function granted(
  command: string,
  { tools, permitCall, access }: Workbench,
): Promise<string | undefined> {
  const tool = tools.find(({ name }) => name === 'Bash')
  const context = { toolUseId: 'one', signal: new AbortController().signal }
  if (!tool || !(await permitCall(tool, { command }, context)).allow) return undefined
  const grant = access.takeCommand('one')
  return grant?.way.kind === 'proven' ? grant.way.command : grant?.command
}

interface Through {
  readonly running: string
  /** How programs were called: the name, its arguments, the folder, what was fed to it. */
  readonly calls: readonly string[]
}

/** Those of the lines that run unasked, run in the bench's folder. */
async function throughOf(lines: readonly string[], where: Workbench): Promise<readonly Through[]> {
  const free: string[] = []
  for (const command of lines) {
    const running = await granted(command, where)
    if (running !== undefined) free.push(running)
  }
  const placed = free.map((line) => ({ line, cwd: where.work, home: bench.home }))
  const ran = await runLines(placed, { path: `${stubs}:/usr/bin:/bin`, log })
  expect(existsSync(join(where.work, 'x'))).toBe(false)
  return free.map((running, index) => ({ running, calls: ran[index] ?? [] }))
}

const COMMANDS = [
  ...Array.from({ length: 8 }, () => APPROVED).flat(),
  'evil',
  'touch x',
  'psql',
  'ls',
  'cat a.txt',
  'echo evil',
  'true',
  'cd sub',
  'cd ..',
  'node',
]
const TAILS = [
  ...Array.from({ length: 16 }, () => ''),
  ' x',
  ' "x y"',
  ' $(evil)',
  ' `evil`',
  ' > x',
  ' >> x',
  ' < a.txt',
  ' <<< evil',
  ' 2>&1',
  ' &> x',
  ' <(evil)',
  ' # x',
  ' \\\n x',
  ' {a,b}',
  ' $x',
  "$'\\nevil'",
  ' 2>/dev/null',
]
const HEADS = [
  ...Array.from({ length: 16 }, () => ''),
  'x=1 ',
  'PATH=. ',
  '! ',
  'time ',
  'exec ',
  'command ',
  'eval ',
  'sudo ',
  '\\',
  '> x ',
]
const JOINS = ['; ', ' && ', ' || ', ' | ', ' |& ', ' & ', '\n', ' ; ']
const WRAPS: readonly (readonly [string, string])[] = [
  ...Array.from({ length: 14 }, () => ['', ''] as const),
  ['(', ')'],
  ['{ ', '; }'],
  ['echo $(', ')'],
  ['echo "$(', ')"'],
  ['cat <(', ')'],
  ['if true; then ', '; fi'],
  ['for x in 1; do ', '; done'],
  ['while read x; do ', '; done < a.txt'],
  ['f() { ', '; }; f'],
  ['case x in x) ', ';; esac'],
  ['echo evil | { ', '; }'],
]

const call = fc
  .tuple(fc.constantFrom(...HEADS), fc.constantFrom(...COMMANDS), fc.constantFrom(...TAILS))
  .map((parts) => parts.join(''))
const sequence = fc
  .tuple(call, fc.array(fc.tuple(fc.constantFrom(...JOINS), call), { maxLength: 3 }))
  .map(([first, more]) => [first, ...more.flat()].join(''))
const line = fc
  .tuple(sequence, fc.constantFrom(...WRAPS))
  .map(([inner, [before, after]]) => `${before}${inner}${after}`)

test('only what was allowed runs, exactly so, where it was allowed, with no input', async () => {
  expect(bench.questions.map(({ offer }) => offer?.rules.map(({ text }) => text))).toEqual([
    ['Bash(npm test)'],
    ['Bash(git push origin "a  b")'],
  ])
  const expected = new Set([
    `npm [test] in ${bench.work} with ()`,
    `git [push] [origin] [a  b] in ${bench.work} with ()`,
  ])
  const through = await throughOf(fc.sample(line, cases(120, 20_000)), bench)
  for (const { running, calls } of through)
    expect([running, calls.filter((one) => !expected.has(one))]).toEqual([running, []])
  expect(through.length).toBeGreaterThan(3)
})

test('a rule that somebody wrote covers its commands with any arguments, and nothing else', async () => {
  const written = { allow: ['Bash(npm test:*)', 'Bash(git push * "a  b")'] }
  const other = await createWorkbench({ rules: written })
  onTestFinished(async () => await other.dispose())
  mkdirSync(join(other.work, 'sub'))
  writeFileSync(join(other.work, 'a.txt'), 'evil\n')
  const isExpected = (call: string): boolean =>
    /^(?:npm \[test\]|git \[push\] \[origin\] \[a {2}b\])/.test(call) && call.includes(` in ${other.work}`)
  const through = await throughOf(fc.sample(line, cases(80, 20_000)), other)
  for (const { running, calls } of through)
    expect([running, calls.filter((one) => !isExpected(one))]).toEqual([running, []])
  expect(through.length).toBeGreaterThan(3)
})
