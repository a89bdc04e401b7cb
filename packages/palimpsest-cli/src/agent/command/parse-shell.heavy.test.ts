import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { ANY_CHARACTER } from '../../../../../test/kit/any-character.ts'
import { cases } from '../../../../../test/kit/cases.ts'
import { runLines } from '../../../../../test/kit/run-lines.ts'
import { OTHER_LINES, READING_LINES } from '../../../../../test/kit/shell-lines.ts'
import { judgeInside } from './inside/judge-inside.ts'
import { parseShell } from './parse-shell.ts'
import { proveLine } from './proven/prove-line.ts'

// The judge of what a line names is bash itself, with stubs in place of every program: rules about commands lean on it.

const STUBS =
  'rm touch mkdir mv cp chmod ln tee curl npm python3 node bash sh xargs env nohup timeout nice sudo evil ls cat head tail wc sort uniq grep find sed awk cut tr diff stat file du date uname hostname nproc whoami id git tree seq tac nl rg jq ps sleep'.split(
    ' ',
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

describe('what bash really runs', () => {
  const LINES = [...READING_LINES, ...OTHER_LINES]
  let ranBy: ReadonlyMap<string, readonly string[]>
  beforeAll(async () => {
    // Of what cannot be read nothing is claimed.
    const readable = LINES.filter((line) => parseShell(line).readable)
    const ran = await runWithStubs(readable)
    ranBy = new Map(readable.map((line, index) => [line, ran[index] ?? []]))
  })

  test.each(LINES)('%j', (line) => {
    const text = parseShell(line)
    if (!text.readable) return
    const named = new Set(text.commands.map(({ name }) => name))
    expect(ranBy.get(line)?.filter((name) => !named.has(name))).toEqual([])
  })

  test('the lists are long enough to mean something', () => {
    expect(READING_LINES.length + OTHER_LINES.length).toBeGreaterThanOrEqual(250)
  })
})

describe('any line', () => {
  // Words, operators and quotes put together at random: most lines are nonsense, some are traps.
  const PIECES =
    `ls cat rm evil x a.txt sort -o find -delete ; && || | & $( ) \` " ' { } ( (( )) > >> < <<E E <<< <( >( $x \${x :- = y= [ [[ ]] * \\ # if then fi for in do done case esac time ! eval echo PATH=. $(( 2>&1 /dev/null ~ function select coproc ;; |& $' \${ } x[ ] $[ 3 <& >& - $(rm) \`rm\` \${x:- !( @( += {a,b}`
      .split(' ')
      .concat('\n', '\t', 'r""m', "$'rm'", '\\\n')

  test('that we can parse runs nothing but what it names, according to bash', async () => {
    const lines = fc.sample(
      // What stands side by side without a space is read otherwise than what is apart.
      fc.array(fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom('', ' ')), {
        minLength: 1,
        maxLength: 9,
      }),
      cases(1_000, 1_500_000),
    )
    const texts = [...new Set(lines.map((words) => words.flat().join('')))].filter((line) => {
      const text = parseShell(line)
      return text.readable && text.commands.length > 0
    })
    const chosen = texts.slice(0, cases(15, 6_000).numRuns)
    const ran = await runWithStubs(chosen)
    for (const [index, line] of chosen.entries()) {
      const text = parseShell(line)
      const named = new Set(text.readable ? text.commands.map(({ name }) => name) : [])
      expect([line, ran[index]?.filter((name) => !named.has(name))]).toEqual([line, []])
    }
    expect(texts.length).toBeGreaterThan(50)
  })

  test('is judged without an exception, whatever its characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 200 }), (line) => {
        expect(typeof parseShell(line).readable).toBe('boolean')
        expect(typeof judgeInside(line).fits).toBe('boolean')
        expect(typeof proveLine(line).proven).toBe('boolean')
      }),
      cases(200, 200_000),
    )
  })
})

/** The names of the programs that each line started. */
async function runWithStubs(lines: readonly string[]): Promise<readonly (readonly string[])[]> {
  const folder = mkdtempSync(join(root, 'run-'))
  const placed = lines.map((line, index) => {
    const cwd = join(folder, String(index))
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'a.txt'), 'alpha, 1\nbeta, 2\n')
    // Arguments are bounded; a line that is too long for the system runs nothing.
    return { line: Buffer.byteLength(line) > 100_000 ? '' : line, cwd, home: cwd }
  })
  const ran = await runLines(placed, { path: stubs, log })
  rmSync(folder, { recursive: true, force: true })
  return ran
}
