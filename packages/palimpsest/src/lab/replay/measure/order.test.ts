import { describe, expect, test } from 'vitest'

import { allBlocks, inventSession, type Scripted } from '../../../../../../test/kit/invented-session.ts'
import { createControls } from './controls.ts'
import { findOutcomes } from './outcomes.ts'
import { createScorer, measureSession, type Measured, type Score } from './score.ts'
import { makePage, wholePage, type Sight } from './sight.ts'

const GREEN = 'Tests  4 passed (4)\nDuration 1.2s'
const RED =
  'Exit code 1\nFAIL login.test.ts > keeps the session\nAssertionError: expected 3 to be 4\nTests  1 failed (4)'

const bash = (command: string, result: string): Scripted => ({
  calls: [{ name: 'Bash', input: { command }, result, isError: result.startsWith('Exit code') }],
})
const read = (path: string, result: string): Scripted => ({
  calls: [{ name: 'Read', input: { file_path: path }, result }],
})

/** The same at every step: what is shown is a matter of whole results, by their number. */
function scoreOf(script: readonly Scripted[], hides: readonly number[], text?: string): Score['shares'] {
  const session = inventSession([{ user: 'Mend it.' }, ...script, { say: 'Well.' }])
  const measured = measureSession(session, allBlocks(session))
  const results = measured.corpus.blocks.flatMap(({ kind }, index) => (kind === 'result' ? [index] : []))
  const gone = new Set(hides.map((number) => results[number]))
  const sight: Sight = {
    shows: (line) => !gone.has(measured.corpus.lineBlocks[line] ?? -1),
    made: text === undefined ? [] : [wholePage(makePage(text, false))],
  }
  return lastStep(measured, sight)
}

/** Of the last step alone: all of the script is before it. */
function lastStep(measured: Measured, sight: Sight): Score['shares'] {
  const scorer = createScorer(measured, { recalls: false })
  scorer.add(measured.needs.length - 1, sight, false)
  return scorer.end().shares
}

describe('unresolved errors: the newest result of a command decides', () => {
  const red = [bash('npm test', GREEN), bash('npm test', RED)]

  test.each([
    ['everything is shown', [], 1],
    ['the success left, the failure did not', [0], 1],
    ['both left', [0, 1], 0],
    ['the older success is shown, the newer failure left', [1], 0],
  ])('%s', (_, hides, expected) => {
    expect(scoreOf(red, hides).unresolved_errors).toBe(expected)
  })

  test('a message that names the command and its error counts if nothing contradicts it', () => {
    const told = 'Not resolved:\n- Bash `npm test`: FAIL login.test.ts > keeps the session'
    expect(scoreOf(red, [0, 1], told).unresolved_errors).toBe(1)
    expect(scoreOf(red, [1], told).unresolved_errors).toBe(0)
  })

  test('a line with the command and its error counts even in a long list of paths', () => {
    const paths = Array.from({ length: 40 }, (_, i) => `src/rooms/room_${i}/door_${i}.ts`).join(', ')
    const told = `Edited ${paths}\n\nNot resolved:\n- Bash \`npm test\`: FAIL login.test.ts > keeps the session`
    expect(scoreOf(red, [0, 1], told).unresolved_errors).toBe(1)
    expect(scoreOf(red, [0, 1], `npm test ${paths}\nlogin.test.ts`).unresolved_errors).toBe(0)
  })

  test('a message that does not name the command does not count', () => {
    const crumb = 'FAIL login.test.ts > keeps the session\nTests  1 failed (4)'
    expect(scoreOf(red, [0, 1], crumb).unresolved_errors).toBe(0)
  })

  test('the text of an older failure does not count', () => {
    const script = [bash('npm test', RED.replaceAll('login', 'logout')), bash('npm test', RED)]
    const told = 'Bash `npm test`: FAIL logout.test.ts > keeps the session'
    expect(scoreOf(script, [1]).unresolved_errors).toBe(0)
    expect(scoreOf(script, [0, 1], told).unresolved_errors).toBe(0)
  })

  test('a piece of the result that shows the error counts', () => {
    const piece = RED.split('\n').slice(1).join('\n')
    expect(scoreOf(red, [0, 1], `What failed:\n${piece}`).unresolved_errors).toBe(1)
  })

  test('a success of the same command, or of a broader one, clears the error; a narrower one does not', () => {
    const narrow = [bash('npm test -- login.test.ts', RED)]
    const same = bash('cd /repo && npm test -- login.test.ts 2>&1 | tail -3', GREEN)
    expect(scoreOf([...narrow, same], [0, 1]).unresolved_errors).toBeNull()
    expect(scoreOf([...narrow, bash('npm test', GREEN)], [0, 1]).unresolved_errors).toBeNull()
    expect(scoreOf([...red, bash('npm test -- login.test.ts', GREEN)], [0, 1, 2]).unresolved_errors).toBe(0)
    const both = bash('npm run build && npm test', RED)
    expect(scoreOf([both, bash('npm test', GREEN)], [0, 1]).unresolved_errors).toBe(0)
    const parts = [bash('npm test', GREEN), bash('npm run build', 'built')]
    expect(scoreOf([both, ...parts], [0, 1, 2]).unresolved_errors).toBeNull()
  })

  test('a piped check is judged by its own output', () => {
    const piped = bash('npm test 2>&1 | tail -4', 'FAIL login.test.ts\n Tests  1 failed | 3 passed (4)')
    expect(scoreOf([piped], [0]).unresolved_errors).toBe(0)
    const fine = bash('npm test 2>&1 | tail -4', 'ok: 3 failed attempts are counted\n Tests  4 passed (4)')
    expect(scoreOf([fine], [0]).unresolved_errors).toBeNull()
  })

  test('text that is no failure of a command is not counted', () => {
    const refused = "The user doesn't want to proceed with this tool use."
    const script: Scripted[] = [
      bash('grep -rn nothing src', 'Exit code 1'),
      bash('env | grep NOTHING', 'Exit code 1'),
      { calls: [{ name: 'Bash', input: { command: 'rm -rf build' }, result: refused, isError: true }] },
      { calls: [{ name: 'Edit', input: { file_path: '/p/a.ts' }, result: 'not found', isError: true }] },
    ]
    expect(scoreOf(script, [0, 1, 2]).unresolved_errors).toBeNull()
  })

  test('a different command is fixed by its program: the mistake was in the arguments', () => {
    const failed = bash('git rebase main', 'Exit code 1\nerror: could not apply 27a33e9')
    expect(scoreOf([failed], [0]).unresolved_errors).toBe(0)
    expect(scoreOf([failed, bash('git rebase --continue', 'done')], [0, 1]).unresolved_errors).toBeNull()
    expect(scoreOf([failed, bash('git status', 'clean')], [0, 1]).unresolved_errors).toBe(0)
  })
})

describe('order: nothing that is kept contradicts a newer result that left', () => {
  const script = [bash('npm test', GREEN), bash('npm test', RED)]

  test.each([
    ['everything is shown', [], 1],
    ['the older left', [0], 1],
    ['both left', [0, 1], 1],
    ['the newer left, the older is shown', [1], 0],
  ])('%s', (_, hides, expected) => {
    expect(scoreOf(script, hides).order).toBe(expected)
  })

  test('is not scored if a call was made once, or if its results differ only in numbers', () => {
    expect(scoreOf([bash('npm test', GREEN)], []).order).toBeNull()
    const again = [bash('npm test', GREEN), bash('npm test', GREEN.replace('1.2s', '3.4s'))]
    expect(scoreOf(again, [1]).order).toBeNull()
  })

  test('covers files that were read twice, but not edits', () => {
    const file = 'alpha beta\ngamma delta\nepsilon zeta\neta theta'
    const changed = file.replace('gamma', 'GAMMA')
    expect(scoreOf([read('/p/a.ts', file), read('/p/a.ts', changed)], [1]).order).toBe(0)
    expect(scoreOf([read('/p/a.ts', file), read('/p/b.ts', changed)], [1]).order).toBeNull()
    const edit = (result: string): Scripted => ({
      calls: [{ name: 'Edit', input: { file_path: '/p/a.ts', old_string: 'x' }, result }],
    })
    expect(scoreOf([edit('updated once'), edit('updated twice')], [1]).order).toBeNull()
  })

  test('a piece of the older result counts as kept; a piece of the newer one counts only if it shows the outcome', () => {
    const long = (end: string): string => `step one\nstep two\nstep three\nstep four\n${end}`
    const runs = [
      bash('npm test', long('Tests  4 passed (4)')),
      bash(
        'npm test',
        `Exit code 1\n${long('FAIL login.test.ts\nAssertionError: 3 is not 4\nTests  1 failed (4)')}`,
      ),
    ]
    const older = 'step three\nstep four\nTests  4 passed (4)'
    const head = 'step one\nstep two\nstep three\nstep four'
    const evidence = 'step four\nFAIL login.test.ts\nAssertionError: 3 is not 4'
    expect(scoreOf(runs, [0, 1], older).order).toBe(0)
    expect(scoreOf(runs, [1], head).order).toBe(0)
    expect(scoreOf(runs, [1], evidence).order).toBe(1)
  })
})

test('lines shared by two results belong to the result with the longer match', () => {
  const frame = 'error: expected true\nExpected: 0\nReceived: 1'
  const other = `at check.ts\n${frame}\n(fail) check`
  const script = [
    bash('npm test -- a', `Exit code 1\n${frame}`),
    bash('npm test -- a', GREEN),
    bash('npx jest b', other),
  ]
  expect(scoreOf(script, [0, 1, 2], other).order).toBe(1)
  expect(scoreOf(script, [0, 1, 2], frame).order).toBe(0)
})

describe('what crumbs cannot win', () => {
  const file = (name: string): string =>
    Array.from({ length: 30 }, (_, i) => `  const ${name}_${i} = make_${name}(base_${name}_${i})`).join('\n')
  const session = inventSession([
    { user: 'Mend it.' },
    read('/p/a.ts', file('alpha')),
    bash('npm test', RED),
    ...Array.from({ length: 20 }, (_, i) => read(`/p/other-${i}.ts`, file(`other${i}`))),
    {
      say: 'alpha_7 and alpha_9 go.',
      calls: [
        {
          name: 'Edit',
          input: { file_path: '/p/a.ts', old_string: file('alpha').split('\n').slice(7, 10).join('\n') },
          result: 'updated',
        },
      ],
    },
  ])
  const measured = measureSession(session, allBlocks(session))
  const step = measured.needs.length - 1
  const scored = (sight: Sight): Score['shares'] => {
    const scorer = createScorer(measured, { recalls: false })
    scorer.add(step, sight, false)
    return scorer.end().shares
  }

  test('needed lines, chosen with hindsight and quoted one by one, score in the quoted columns and in no other', () => {
    const { crumbs, oracle } = createControls(measured)
    expect(scored(crumbs(step, 20_000))).toMatchObject({
      frr_line_quoted: 1,
      edit_line_quoted: 1,
      frr_line: 0,
      edit_line: 0,
      edit_whole: 0,
      unresolved_errors: 0,
    })
    expect(scored(oracle(step, 20_000))).toMatchObject({
      frr_line: 1,
      edit_line: 1,
      edit_whole: 1,
      unresolved_errors: 1,
    })
  })
})

test('the evidence of a failure is the lines that show the error, in a check the red ones', () => {
  const result = 'Exit code 1\n(pass) throws UnknownFlagError\nFAIL login.test.ts\n Tests  1 failed (4)'
  const session = inventSession([{ user: 'Mend it.' }, bash('bun run test', result), { say: 'Well.' }])
  const { corpus } = measureSession(session, allBlocks(session))
  const [failure] = findOutcomes(corpus).failures
  const lines = result.split('\n')
  const first = failure?.firstLine ?? 0
  expect(failure?.evidence.map((line) => lines[line - first])).toEqual([lines[2], lines[3]])
})

describe('a run that hides its exit code', () => {
  test.each([
    ['./run_tests.sh', 'not ok 2 - a\n# fail 1'],
    ['./run_tests.sh', '12 examples, 2 failures'],
    ['python3 repro.py', 'Traceback (most recent call last):\n  File "a.py", line 2\nValueError: x'],
    ['node a.js', 'TypeError: x is not a function\n    at run (a.js:3:1)'],
    ['python -m unittest', 'FAILED (failures=1)'],
    ['./gradlew test', 'FooTest > bar() FAILED'],
    ['deploy prod', 'Exit: quota exceeded: 5 of 2'],
  ])('fixes nothing if its output says that it failed: %s', (command, red) => {
    const script = [
      bash(command, 'Exit code 1\nExit: quota exceeded: 3 of 2'),
      bash(`${command} 2>&1 | tail -5`, red),
    ]
    expect(scoreOf(script, [0, 1]).unresolved_errors).toBe(0)
    expect(scoreOf(script, [0]).unresolved_errors).toBe(1)
  })
})
