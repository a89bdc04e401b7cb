import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { compacted, said } from '../../../../test/kit/said.ts'
import type { Entry } from '../transcript/entry.ts'
import { step, viewOf } from '../transcript/view.ts'
import { decodeFacts, encodeFacts } from './encode-facts.ts'
import { factsOf } from './facts-of.ts'
import { NO_FACTS, type Facts } from './facts.ts'

function facts(...spoken: Parameters<typeof said>[0]): Facts {
  return factsOf(viewOf(said(spoken)))
}

const ok = 'done'

describe("the user's words", () => {
  test('are kept as typed; results, answers and text added by programs are not', () => {
    const { words } = facts(
      { user: 'Fix <b>this</b>\n  now' },
      { model: 'I fix it.' },
      { call: 'Bash', input: { command: 'ls' }, result: 'never mind' },
      { user: '<system-reminder>\nAlways be nice.\n</system-reminder>\nGo on' },
      { user: '<command-name>/x</command-name><command-args>with care</command-args>' },
      { user: '[Request interrupted by user for tool use]' },
    )
    expect(words.map(({ text }) => text)).toEqual(['Fix <b>this</b>\n  now', 'Go on', 'with care'])
  })

  test('a long message is kept as head, tail and length', () => {
    const text = `${'a'.repeat(3_000)}${'z'.repeat(3_000)}`
    const [long] = facts({ user: text }).words
    expect(long).toEqual({
      entry: 'e1',
      text: 'a'.repeat(1_200),
      cut: { tail: 'z'.repeat(600), chars: 6_000 },
    })
  })
})

test('recalled text adds no facts: neither an old failure, nor a missing id, nor an old success', () => {
  const failed = {
    call: 'Bash',
    input: { command: 'npm test' },
    result: 'Exit code: 1\nnot ok 1 - x',
    error: true,
  }
  const { errors, commands, files } = facts(
    failed,
    { call: 'Recall', input: { query: 'npm test' }, result: 'Exit code: 0\nall well' },
    { call: 'Recall', input: { id: 'ffffffff' }, result: 'Nothing has the id', error: true },
  )
  expect(errors.map(({ target }) => target)).toEqual(['npm test'])
  expect(commands).toHaveLength(1)
  expect(files).toEqual([])
})

test('an interrupted call neither fails nor fixes anything', () => {
  const run = (result: string, error = false) => ({
    call: 'Bash',
    input: { command: 'npm test' },
    result,
    error,
  })
  const entries = said([
    run('Exit code: 1\nnot ok 1 - x', true),
    run('[Interrupted before a result arrived]', true),
  ])
  const last = entries.at(-1)
  const broken = entries.map((entry) =>
    entry === last && entry.kind === 'message' ? { ...entry, part: 'interrupted' as const } : entry,
  )
  const { errors, mended, commands } = factsOf(viewOf(broken))
  expect(errors.map(({ text }) => text)).toEqual(['not ok 1 - x'])
  expect(mended).toEqual([])
  expect(commands).toHaveLength(2)
})

describe('files', () => {
  test('keep the last operation on each file, whatever the tool is called', () => {
    const { files } = facts(
      { call: 'Read', input: { file_path: '/p/a.ts' }, result: 'x' },
      { call: 'Edit', input: { file_path: '/p/a.ts' }, result: ok },
      { call: 'Write', input: { file_path: '/p/new.ts' }, result: ok },
      { call: 'Write', input: { file_path: '/p/no.ts' }, result: 'Error: denied', error: true },
      { call: 'edit', input: { path: '/p/b.ts', oldText: 'x' }, result: ok },
      { call: 'shell', input: { command: ['bash', '-lc', 'rm b.ts'] }, result: ok },
      {
        call: 'apply_patch',
        input: {
          input: '*** Begin Patch\n*** Add File: /p/c.ts\n+x\n*** Update File: /p/a.ts\n*** End Patch',
        },
        result: 'Exit code: 0',
      },
      { call: 'str_replace_editor', input: { command: 'view', path: '/p/d.ts' }, result: 'x' },
      { call: 'Read', input: { file_path: '/p/a.ts' }, result: 'x' },
    )
    expect(files.map(({ path, operation, touched }) => [path, operation, touched])).toEqual([
      ['/p/a.ts', 'edited', 7],
      ['/p/new.ts', 'created', 3],
      ['/p/b.ts', 'deleted', 5],
      ['/p/c.ts', 'created', 6],
      ['/p/d.ts', 'read', 8],
    ])
    expect(files[0]).toMatchObject({ read: 9, entry: 'e13' })
  })
})

describe('commands and errors', () => {
  test('exit codes are read if results state them', () => {
    const { commands } = facts(
      { call: 'Bash', input: { command: 'a' }, result: 'Exit code 2\nboom', error: true },
      {
        call: 'exec_command',
        input: { cmd: 'b' },
        result: 'Wall time: 1\nProcess exited with code 0\nOutput:',
      },
      { call: 'bash', input: { command: 'c' }, result: 'out\n\nCommand exited with code 3', error: true },
      { call: 'Bash', input: { command: 'd' }, result: 'fine' },
      { call: 'Bash', input: { command: 'grep x y' }, result: 'Exit code 1', error: true },
      { call: 'Bash', input: { command: 'e' }, result: 'x\n[exit code 1]', error: true },
    )
    expect(commands).toEqual([
      { command: 'a', exit: 2, failed: true },
      { command: 'b', exit: 0, failed: false },
      { command: 'c', exit: 3, failed: true },
      { command: 'd', failed: false },
      { command: 'grep x y', exit: 1, failed: false },
      { command: 'e', exit: 1, failed: true },
    ])
  })

  test('a failure stays open until a similar call succeeds', () => {
    const failed = 'Exit code 1\nsrc/a.ts(1,2): error TS1: x'
    const { errors, mended } = facts(
      {
        call: 'Bash',
        input: { command: 'npm test -- a.test.ts 2>&1 | tail -5' },
        result: failed,
        error: true,
      },
      { call: 'Bash', input: { command: 'npm run build' }, result: failed, error: true },
      { call: 'Edit', input: { file_path: '/p/a.ts' }, result: 'String to replace not found', error: true },
      { call: 'Edit', input: { file_path: '/p/b.ts' }, result: 'String to replace not found', error: true },
      { call: 'Bash', input: { command: 'cd /p && npm test' }, result: 'ok' },
      { call: 'Bash', input: { command: 'npm run build -- --only-a' }, result: 'ok' },
      { call: 'Write', input: { file_path: '/p/a.ts' }, result: 'ok' },
    )
    expect(errors.map(({ target, text }) => [target, text])).toEqual([
      ['npm run build', 'src/a.ts(1,2): error TS1: x'],
      ['/p/b.ts', 'String to replace not found'],
    ])
    expect(mended.map(({ target }) => target)).toEqual(['npm test -- a.test.ts 2>&1 | tail -5', '/p/a.ts'])
  })

  test.each([
    ['npm test 2>&1 | tail -20', ' Tests  3 failed | 12 passed (15)'],
    ['cd /p && go test ./... 2>&1 | grep -A 5 FAIL', '--- FAIL: TestLogin (0.01s)'],
    ['npx tsc --noEmit; echo done', "src/a.ts(1,2): error TS2339: Property 'x' does not exist"],
    ['cargo test | head', 'test result: FAILED. 1 passed; 2 failed; 0 ignored'],
  ])('a check without an exit code failed if its output says so: %s', (command, line) => {
    const { errors, commands } = facts({ call: 'Bash', input: { command }, result: `running\n${line}\nend` })
    expect(errors.map(({ text }) => text)).toEqual([line.trim()])
    expect(commands.map(({ failed }) => failed)).toEqual([true])
  })

  test.each([
    ['grep -rn "test failed" src | head', 'a.ts:1: FAIL'],
    ['cat test.log | tail -5', 'FAIL'],
    ['npm test | tail -3', 'Tests  0 failed | 12 passed (12)'],
    ['npm test | tail -3', '✓ says that 3 failed'],
    ['npm test', 'FAIL'],
  ])('text that only quotes such words is no failure: %s', (command, line) => {
    expect(facts({ call: 'Bash', input: { command }, result: `${line}\n` }).errors).toEqual([])
  })

  test('a similar failure replaces the previous one, and a refusal by the user is not a failure', () => {
    const refused = "The user doesn't want to proceed with this tool use."
    const { errors } = facts(
      { call: 'Bash', input: { command: 'make' }, result: 'Exit code 2\nerror: one', error: true },
      { call: 'Bash', input: { command: 'make' }, result: 'Exit code 2\nerror: two', error: true },
      { call: 'Bash', input: { command: 'rm x' }, result: refused, error: true },
    )
    expect(errors.map(({ text }) => text)).toEqual(['error: two'])
  })
})

test.each([
  [
    'a line that names what failed takes precedence over a bare verdict',
    'FAIL\nok  a\nFAIL\tpkg/b\t0.2s\nFAIL',
    'FAIL\tpkg/b\t0.2s',
  ],
  [
    'a success is no error, whatever its name',
    'Exit code 1\n(pass) throws an error\nok b\nerror: expected 3',
    'error: expected 3',
  ],
  [
    'tool output takes precedence over the line that reports the failed task',
    '[lint] ERROR task failed\na.go:3:1: err is not nil: error',
    'a.go:3:1: err is not nil: error',
  ],
  [
    'the verdict, if there is nothing else',
    '1 issues:\n[lint] ERROR task failed',
    '[lint] ERROR task failed',
  ],
  [
    'the end of a long result is searched too',
    `${'line\n'.repeat(20_000)}--- FAIL: TestLast`,
    '--- FAIL: TestLast',
  ],
])('the text of a failure: %s', (_name, result, text) => {
  const { errors } = facts({ call: 'Bash', input: { command: 'mise run lint 2>&1 | tail -500' }, result })
  expect(errors.map((error) => error.text)).toEqual([text])
})

test('two commands are the same however their output is filtered, and different if their last word differs', () => {
  const run = (command: string, result: string) => ({ call: 'Bash', input: { command }, result })
  const tests = Array.from({ length: 30 }, (_, i) => `TestNumber${i}`).join('|')
  const failing = run(`go test -run "${tests}|A" 2>&1 | tail -9`, '--- FAIL: TestA')
  const other = run(`go test -run "${tests}|B" 2>&1 | tail -9`, '--- FAIL: TestB')
  expect(facts(failing, other).errors).toHaveLength(2)
  const looked = run(`go test -run "${tests}|A" 2>&1 | grep -E "(FAIL|PASS) \\"x" | head -20`, 'PASS')
  expect(facts(failing, other, looked).errors.map(({ text }) => text)).toEqual(['--- FAIL: TestB'])
})

describe('to-dos', () => {
  test('the newest list wins', () => {
    const { todos } = facts(
      { call: 'TodoWrite', input: { todos: [{ content: 'old', status: 'pending' }] }, result: ok },
      {
        call: 'update_plan',
        input: {
          plan: [
            { step: 'one', status: 'completed' },
            { step: 'two', status: 'in_progress' },
          ],
        },
        result: ok,
      },
    )
    expect(todos).toEqual([
      { text: 'one', state: 'done' },
      { text: 'two', state: 'running' },
    ])
  })

  test('tasks are merged by id', () => {
    const { todos } = facts(
      { call: 'TaskCreate', input: { subject: 'A' }, result: 'Task #1 created successfully: A' },
      { call: 'TaskCreate', input: { subject: 'B' }, result: 'Task #2 created successfully: B' },
      { call: 'TaskCreate', input: { subject: 'C' }, result: 'Task #3 created successfully: C' },
      { call: 'TaskUpdate', input: { taskId: '1', status: 'completed' }, result: 'Updated task #1' },
      { call: 'TaskUpdate', input: { taskId: '2', status: 'deleted' }, result: 'Updated task #2' },
    )
    expect(todos).toEqual([
      { id: '1', text: 'A', state: 'done' },
      { id: '3', text: 'C', state: 'open' },
    ])
  })
})

describe('background work', () => {
  test('is running until its end was seen', () => {
    const start = { run_in_background: true }
    const { background } = facts(
      {
        call: 'Bash',
        input: { command: 'serve', ...start },
        result: 'Started in the background as shell_1. BashOutput …',
      },
      {
        call: 'Bash',
        input: { command: 'build', ...start },
        result: 'Command running in background with ID: b2',
      },
      {
        call: 'Bash',
        input: { command: 'watch', ...start },
        result: 'Started in the background as shell_3.',
      },
      {
        call: 'Task',
        input: { description: 'review', ...start },
        result: 'Async agent launched.\nagentId: ae4',
      },
      { call: 'exec_command', input: { cmd: 'long' }, result: 'Process running with session ID 90862' },
      { call: 'BashOutput', input: { bash_id: 'shell_1' }, result: '[shell_1 is running.]' },
      { call: 'KillShell', input: { shell_id: 'shell_3' }, result: 'shell_3 was ended.' },
      { call: 'write_stdin', input: { session_id: 90862 }, result: 'Process exited with code 0' },
      { user: '<task-notification><task-id>ae4</task-id><status>completed</status></task-notification>' },
    )
    expect(background).toEqual([
      { id: 'shell_1', text: 'serve' },
      { id: 'b2', text: 'build' },
    ])
  })
})

test('answers are the last text of each turn', () => {
  const { answers } = facts(
    { user: 'a' },
    { model: 'let me look' },
    { call: 'Bash', input: { command: 'ls' }, result: 'x' },
    { model: 'it is done' },
    { user: 'b' },
    { model: 'working' },
  )
  expect(answers.map(({ text }) => text)).toEqual(['it is done', 'working'])
})

const SPOKEN: Parameters<typeof said>[0] = [
  { user: 'Never push to main. Fix it.' },
  { call: 'Edit', input: { file_path: '/p/a.ts' }, result: ok },
  { call: 'Bash', input: { command: 'make' }, result: 'Exit code 2\nerror: one', error: true },
  { call: 'TaskCreate', input: { subject: 'A' }, result: 'Task #1 created' },
  { call: 'TodoWrite', input: { todos: [{ content: 'old', status: 'pending' }] }, result: ok },
  { call: 'Bash', input: { command: 'serve', run_in_background: true }, result: 'with ID: b2' },
  { model: 'done' },
  { user: 'x'.repeat(5_000) },
]

describe('the fold', () => {
  test('facts of a prefix plus the rest equal the facts of the whole', () => {
    const entries = said(SPOKEN)
    const whole = factsOf(viewOf(entries))
    fc.assert(
      fc.property(fc.nat(entries.length), (cut) => {
        let view = viewOf(entries.slice(0, cut))
        factsOf(view)
        for (const entry of entries.slice(cut)) view = step(view, entry)
        expect(factsOf(view)).toEqual(whole)
      }),
      cases(20, 200),
    )
  })

  test('folding again without new entries returns the same value', () => {
    const view = viewOf(said(SPOKEN))
    expect(factsOf(view)).toBe(factsOf(view))
  })

  test('a boundary loses nothing: neither with the entries before it, nor if loading starts at it', () => {
    const before = said(SPOKEN)
    const whole = factsOf(viewOf(before))
    const boundary = compacted('b1', before.at(-1)?.id ?? null, { facts: encodeFacts(whole) })
    const after = said([{ user: 'You may now push to main.' }], 40)
    const loaded = factsOf(viewOf([...boundary, ...after], 'b1'))
    expect(loaded).toEqual(factsOf(viewOf([...before, ...boundary, ...after])))
    expect(loaded.words.length).toBe(whole.words.length + 1)
    expect(loaded.standing).toEqual([])
    expect(loaded.errors).toEqual(whole.errors)
  })

  test('a copy that a boundary keeps is not read as new: a failure outlives an older success of the same command', () => {
    const ran = { call: 'Bash', input: { command: 'npm test' }, result: 'ok' }
    const before = said([{ user: 'go' }, ran, { ...ran, result: 'Exit code 1\nFAIL a', error: true }])
    const copies = before
      .slice(0, 3)
      .flatMap((entry): Entry[] =>
        entry.kind === 'message' ? [{ ...entry, id: `c${entry.id}`, part: 'kept', copyOf: entry.id }] : [],
      )
    const [boundary, ...rest] = compacted('b', before.at(-1)?.id ?? null)
    const head =
      boundary?.kind === 'boundary' ? { ...boundary, copies: copies.map(({ id }) => id) } : undefined
    const { errors, words, commands } = factsOf(
      viewOf([...before, ...(head ? [head] : []), ...rest, ...copies]),
    )
    expect(errors.map(({ text }) => text)).toEqual(['FAIL a'])
    expect(words).toHaveLength(1)
    expect(commands).toHaveLength(2)
  })

  test('a kept tail before the boundary is not counted twice', () => {
    const before = said(SPOKEN)
    const whole = factsOf(viewOf(before))
    const boundary = compacted('b1', before.at(-1)?.id ?? null, { facts: encodeFacts(whole) })
    expect(factsOf(viewOf([...before.slice(-3), ...boundary], 'b1'))).toEqual(whole)
  })

  test('a voided entry does not count', () => {
    const entries = said([{ user: 'Never push.' }, { user: 'Never pull at all.' }])
    const undo: Entry = { kind: 'void', id: 'v', parent: 'e2', at: 0, target: 'e2' }
    expect(factsOf(viewOf([...entries, undo])).standing.map(({ text }) => text)).toEqual(['Never push.'])
  })
})

describe('facts as JSON', () => {
  test('survive a round trip', () => {
    const whole = factsOf(viewOf(said(SPOKEN)))
    expect(decodeFacts(JSON.parse(JSON.stringify(encodeFacts(whole))))).toEqual(whole)
  })

  test('unexpected values are read without harm', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const found = decodeFacts(
          JSON.parse(JSON.stringify({ format: 1, words: json, files: [json, ['p', 'read', 1]] })),
        )
        expect(found?.files.at(-1)).toEqual({ path: 'p', operation: 'read', touched: 1 })
      }),
      cases(40, 1_000),
    )
    expect(decodeFacts(undefined)).toBeUndefined()
    expect(decodeFacts({ format: 99 })).toBeUndefined()
    expect(decodeFacts({ format: 1 })).toEqual(NO_FACTS)
  })

  test('old messages are shortened once all of them together are too long to carry', () => {
    const words = Array.from({ length: 300 }, (_, i) => ({
      entry: `e${i}`,
      text: `${i} ${'w'.repeat(1_500)} end`,
    }))
    const found = decodeFacts(encodeFacts({ ...NO_FACTS, words }))?.words ?? []
    expect(found.length).toBe(300)
    expect(found.at(-1)).toEqual(words.at(-1))
    expect(found[0]?.cut).toEqual({ tail: `${'w'.repeat(76)} end`, chars: 1_506 })
    expect(JSON.stringify(found).length).toBeLessThan(300_000)
  })
})
