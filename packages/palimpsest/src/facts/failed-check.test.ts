import { describe, expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { said } from '../../../../test/kit/said.ts'
import { viewOf } from '../transcript/view.ts'
import { factsOf } from './facts-of.ts'
import type { Facts } from './facts.ts'

const RUNNERS = [
  './run_tests.sh',
  './check.sh',
  'bash scripts/run-tests.sh',
  'npm test',
  'python3 repro.py',
  'python -m unittest',
  'node index.js',
  'cargo run',
  'go test ./...',
  './gradlew test',
  'bundle exec rspec',
  'git add -A && make check',
  'npm run fmt && npm run lint',
  'git commit -am x && npm test',
]
const HIDING = [' 2>&1 | tail -30', ' | grep -v skip | head -20', ' || true', '; true', '; echo done']
/** Every runner with some of them, every one of them with some runner. */
const HIDDEN = RUNNERS.flatMap((runner, i) =>
  HIDING.filter((_, k) => (i + k) % cases(3, 1).numRuns === 0).map(
    (hiding) => [runner, `${runner}${hiding}`] as const,
  ),
)
const RED = [
  'not ok 2 - route7 answers 404',
  '# fail 2',
  '12 examples, 2 failures',
  '3 passed, 2 failed in 0.4s',
  'Failed!  - Failed:     1, Passed:    41',
  '[ERROR] Tests run: 5, Failures: 1, Errors: 0',
  'FooTest > bar() FAILED',
  'tests/test_a.py::test_b FAILED [ 50%]',
  'FAILURES!',
  'FAILED (failures=1)',
  '67% tests passed, 1 tests failed out of 3',
  'Executed 5 tests, with 2 failures',
  'Traceback (most recent call last):\n  File "repro.py", line 2\nValueError: x',
  "thread 'main' panicked at src/main.rs:3",
  'src/a.ts(3,4): error TS2322: no',
]
const GREEN = [
  '12 passed in 0.4s',
  '# fail 0',
  '12 examples, 0 failures',
  'Failed: 0, Passed: 3',
  'Tests run: 5, Failures: 0, Errors: 0',
  'all 3 tests, which failed yesterday, are well',
  '✖ 3 problems (0 errors, 3 warnings)',
  'fine',
  '',
]

function ran(...runs: readonly (readonly [command: string, result: string, isError?: boolean])[]): Facts {
  const spoken = runs.map(([command, result, error = false]) => ({
    call: 'Bash',
    input: { command },
    result,
    error,
  }))
  return factsOf(viewOf(said(spoken)))
}

describe('a run that hides its exit code', () => {
  test.each(RED)('failed if its output says %j, whatever ran it', (line) => {
    const wrong = HIDDEN.filter(([, command]) => {
      const alone = ran([command, `begin\n${line}\nend`])
      const again = ran([command, 'it broke\n[exit code 1]', true], [command, `begin\n${line}\nend`])
      return alone.errors.length !== 1 || again.errors.length !== 1 || again.mended.length > 0
    })
    expect(wrong).toEqual([])
  })

  test.each(GREEN)('clears a failure if its output says %j', (line) => {
    const wrong = HIDDEN.filter(([plain, hidden]) => {
      const { errors, mended } = ran([plain, 'it broke\n[exit code 1]', true], [hidden, `begin\n${line}\n`])
      return errors.length > 0 || mended.length !== 1
    })
    expect(wrong).toEqual([])
  })

  test('does not clear a failure that its output repeats, whatever the numbers', () => {
    const { errors } = ran(
      ['deploy prod', 'quota exceeded: 3 of 2\n[exit code 1]', true],
      ['deploy prod 2>&1 | tail -1', 'quota exceeded: 4 of 2'],
    )
    expect(errors.map(({ text }) => text)).toEqual(['quota exceeded: 4 of 2'])
  })

  test('reports its outcome through an exit code printed after it', () => {
    expect(ran(['make all > log; echo "exit $?"', 'exit 2']).errors).toHaveLength(1)
    expect(ran(['make all > log; echo "exit $?"', 'exit 0']).errors).toEqual([])
  })

  test('crashed if it prints a stack, unless a check says that everything passed', () => {
    const stack = 'TypeError: x is not a function\n    at run (index.js:3:1)'
    expect(ran(['node index.js 2>&1 | head -20', stack]).errors).toHaveLength(1)
    expect(ran(['npm test 2>&1 | head -20', `${stack}\n 3 passed`]).errors).toEqual([])
  })

  test('is not a command that reads the output of others', () => {
    for (const command of [
      'cat log.txt | tail -5',
      'git diff | head',
      'git log -3; true',
      'docker logs x | tail',
    ])
      expect(ran([command, 'not ok 2 - x\nTraceback (most recent call last):']).errors).toEqual([])
  })
})
