import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { cases } from '../../../../../../test/kit/cases.ts'
import { runLines } from '../../../../../../test/kit/run-lines.ts'
import { createWorkbench, type Workbench } from '../../../../../../test/kit/workbench.ts'
import { resolveProof } from '../../permissions/resolve-proof.ts'
import { proveLine } from './prove-line.ts'

// Words, quotes and operators put together at random: most lines are nonsense, some are traps. Where one is proven, bash must make of the line as it was
// sent what it makes of the line as it was written anew.

const PROGRAMS = 'ls cat head tail wc sort grep find date seq'.split(' ')
const PIECES = [
  ...PROGRAMS,
  ...[
    'evil',
    'true',
    'echo',
    'printf',
    'test',
    '[',
    ']',
    'cd',
    'pwd',
    '!',
    'a.txt',
    'src',
    'x',
    '-n',
    '-1',
    '-c3',
    '-e',
    '-f',
    '--',
    '-',
  ],
  ...[
    '|',
    '||',
    '&&',
    ';',
    '&',
    '\n',
    '|&',
    '(',
    ')',
    '{',
    '}',
    '$(evil)',
    '`evil`',
    '$x',
    '"$x"',
    '${x:-evil}',
    '<(evil)',
    '{a,b}',
  ],
  ...[
    "'a b'",
    '"a b"',
    "$'\\x61'",
    '\\',
    '\\;',
    '\\\n',
    '*',
    '*.txt',
    '?',
    '[ab]',
    '~',
    '~/x',
    '=',
    '#',
    '%s',
    '+%F',
    '"evil"',
    'ev""il',
  ],
  ...[
    '>',
    '2>&1',
    '>/dev/null',
    '2>/dev/null',
    '< a.txt',
    '<<< x',
    '<<E',
    'E',
    'x=1',
    'if',
    'then',
    'fi',
    'time',
    '-name',
    '-exec',
    '3',
  ],
]

let bench: Workbench
let stubs: string
let log: string
beforeAll(async () => {
  bench = await createWorkbench()
  stubs = join(bench.root, 'stubs')
  log = join(bench.root, 'log')
  mkdirSync(stubs)
  mkdirSync(join(bench.work, 'src'))
  for (const name of ['a.txt', 'b.txt', '-n']) writeFileSync(join(bench.work, name), 'x\n')
  for (const name of [...PROGRAMS, 'evil'])
    writeFileSync(join(stubs, name), `#!/bin/bash\nprintf '%s in %s\\n' '${name}' "$PWD" >> '${log}'\n`, {
      mode: 0o755,
    })
})
afterAll(() => bench.dispose())

test('(S3) a proven line means the same to bash as the line that was sent, and never runs more', async () => {
  const lines = fc.sample(
    fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 7 }),
    cases(3_000, 2_000_000),
  )
  const proven = [...new Set(lines.map((words) => words.join(' ')))].filter((line) => proveLine(line).proven)
  const pairs: (readonly [sent: string, written: string])[] = []
  for (const line of proven.slice(0, cases(30, 4_000).numRuns)) {
    const proof = proveLine(line)
    const resolved = proof.proven ? await resolveProof(proof, bench.access) : undefined
    if (resolved?.ok === true) pairs.push([line, resolved.command])
  }
  const placed = pairs.flat().map((line) => ({ line, cwd: bench.work, home: bench.home }))
  const ran = await runLines(placed, { path: stubs, log })
  for (const [index, [line]] of pairs.entries()) {
    const [sent, written] = [ran[2 * index]?.toSorted(), ran[2 * index + 1]?.toSorted()]
    expect([line, written]).toEqual([line, sent])
    expect([line, written?.filter((one) => one.startsWith('evil'))]).toEqual([line, []])
  }
  expect(pairs.length).toBeGreaterThan(8)
})
