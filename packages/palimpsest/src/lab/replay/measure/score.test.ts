import { describe, expect, test } from 'vitest'

import { allBlocks, inventSession } from '../../../../../../test/kit/invented-session.ts'
import { createScorer, measureSession, type Measured, type Score } from './score.ts'
import { makePage, wholePage, type Sight } from './sight.ts'

// One small session, every figure of it reckoned by hand. Its lines:
//  0 user    Please fix the login bug.
//  1 user    Never touch config/prod.yaml.
//  2 answer  I will look.                              step 0
//  3 call    Read
//  4 call    /repo/src/login.ts
//  5 result  export function checkLogin(user_name) {
//  6 result    return token_store.find(user_name)
//  7 result  }
//  8 call    Bash                                      step 1
//  9 call    npm test
// 10 call    TodoWrite
// 11 call    Mend the login
// 12 call    in_progress
// 13 call    Read the code
// 14 call    completed
// 15 result  Exit code 1
// 16 result  TypeError in session_cache.ts
// 17 result  ok
// 18 call    Edit                                      step 2
// 19 call    /repo/src/login.ts
// 20 call      return token_store.find(user_name)
// 21 call      return token_store.lookup(user_name)
// 22 result  updated
// 23 answer  checkLogin is fixed, session_cache.ts …   step 3
const session = inventSession([
  { user: 'Please fix the login bug.\nNever touch config/prod.yaml.' },
  {
    say: 'I will look.',
    calls: [
      {
        name: 'Read',
        input: { file_path: '/repo/src/login.ts' },
        result: 'export function checkLogin(user_name) {\n  return token_store.find(user_name)\n}',
      },
    ],
  },
  {
    calls: [
      {
        name: 'Bash',
        input: { command: 'npm test' },
        result: 'Exit code 1\nTypeError in session_cache.ts',
        isError: true,
      },
      {
        name: 'TodoWrite',
        input: {
          todos: [
            { content: 'Mend the login', status: 'in_progress' },
            { content: 'Read the code', status: 'completed' },
          ],
        },
        result: 'ok',
      },
    ],
  },
  {
    calls: [
      {
        name: 'Edit',
        input: {
          file_path: '/repo/src/login.ts',
          old_string: '  return token_store.find(user_name)',
          new_string: '  return token_store.lookup(user_name)',
        },
        result: 'updated',
      },
    ],
  },
  { say: 'checkLogin is fixed, session_cache.ts is next. config/prod.yaml is untouched.' },
])
const measured = measureSession(session, allBlocks(session))
const READ_RESULT = 3
const ALL_ONE = {
  frr: 1,
  frr_sole: 1,
  frr_related: 1,
  frr_line: 1,
  frr_line_quoted: 1,
  edit_line: 1,
  edit_line_quoted: 1,
  edit_whole: 1,
  frr_user: 1,
  user_words: 1,
  prohibitions: 1,
  modified_path_recall: 1,
  modified_path_precision: 1,
  last_operation: 1,
  open_todos: 1,
  unresolved_errors: 1,
  recoverable: 1,
  // No call was made twice.
  order: null,
}

describe('the figures of a session', () => {
  test('name what each step used and where it was', () => {
    expect(
      measured.needs.map(({ references, editLines, novel }) => ({
        used: references.map(({ needle, sole, user, stale }) => ({ needle, sole, user, stale })),
        edits: editLines.map(({ needle }) => needle),
        novel,
      })),
    ).toEqual([
      { used: [], edits: [], novel: 1 },
      { used: [], edits: [], novel: 0 },
      {
        used: [
          { needle: 'src/login.ts', sole: false, user: false, stale: false },
          { needle: 'token_store.find', sole: true, user: false, stale: false },
          { needle: 'user_name', sole: true, user: false, stale: false },
        ],
        edits: ['return token_store.find(user_name)'],
        novel: 1,
      },
      {
        used: [
          // The file was edited since it was read.
          { needle: 'checkLogin', sole: true, user: false, stale: true },
          { needle: 'session_cache.ts', sole: true, user: false, stale: false },
          { needle: 'config/prod.yaml', sole: false, user: true, stale: false },
        ],
        edits: [],
        novel: 0,
      },
    ])
  })

  test('are all 1 if everything is shown', () => {
    expect(score(() => true).shares).toEqual(ALL_ONE)
  })

  test('are all 0 if nothing is shown, but nothing wrong is claimed', () => {
    const zero = Object.fromEntries(Object.keys(ALL_ONE).map((name) => [name, 0]))
    expect(score(() => false).shares).toEqual({ ...zero, modified_path_precision: 1, order: null })
  })

  test('without the result of the read', () => {
    const { shares, refetched, stepMiss, byClass } = score((line) => line < 5 || line > 7)
    expect(shares).toEqual({
      ...ALL_ONE,
      // Step 2 has the path of three, step 3 all but checkLogin.
      frr: (1 / 3 + 2 / 3) / 2,
      frr_sole: (0 + 1 / 2) / 2,
      frr_related: (0 + 1 / 2) / 2,
      frr_line: (0 + 1 / 2) / 2,
      frr_line_quoted: (0 + 1 / 2) / 2,
      edit_line: 0,
      edit_line_quoted: 0,
      edit_whole: 0,
    })
    expect([...refetched]).toEqual([READ_RESULT])
    expect(stepMiss).toBe(1)
    expect(byClass).toEqual({ symbol: { hits: 0, of: 3 }, file: { hits: 1, of: 1 } })
  })

  test('without the call either, nothing leads back to it', () => {
    expect(score((line) => line < 3 || line > 7).shares.recoverable).toBe((0 + 1 / 2) / 2)
  })

  test('with a stand-in that keeps the words together', () => {
    const { shares } = score((line) => line < 5 || line > 7, standIn('Read: token_store.find(user_name)'))
    expect(shares).toMatchObject({ frr_sole: 3 / 4, frr_related: 3 / 4, frr_line: 1 / 4, edit_line: 0 })
    expect(shares).toMatchObject({ frr_line_quoted: 1 / 4, edit_line_quoted: 0, edit_whole: 0 })
  })

  test('with a stand-in that quotes only the line: it counts as quoted, but not as the line', () => {
    const { shares } = score(
      (line) => line < 5 || line > 7,
      standIn('Read\n  return token_store.find(user_name)\n'),
    )
    expect(shares).toMatchObject({ frr_sole: 3 / 4, frr_related: 3 / 4, frr_line: 1 / 4, edit_line: 0 })
    expect(shares).toMatchObject({ frr_line_quoted: 3 / 4, edit_line_quoted: 1, edit_whole: 0 })
  })

  test('with a list of bare identifiers', () => {
    const list = 'aa_bb cc_dd ee_ff gg_hh ii_jj kk_ll token_store.find user_name checkLogin'
    const { shares } = score((line) => line < 5 || line > 7, standIn(list))
    expect(shares).toMatchObject({ frr_sole: 1, frr_related: 1 / 4, frr_line: 1 / 4, edit_line: 0 })
  })

  test('of a summary that names one right and one wrong file', () => {
    const summary = wholePage(makePage('Files modified:\n- src/login.ts\n- src/other.ts', false))
    const { shares } = score((line) => line < 18, summary)
    expect(shares).toMatchObject({
      modified_path_recall: 1,
      // Before step 3 nothing was modified, and both claims are wrong.
      modified_path_precision: (0 + 0 + 0 + 1 / 2) / 4,
      last_operation: 1,
    })
  })

  test('give each step the same weight, however much it uses', () => {
    const { shares } = score((line) => line !== 16)
    expect(shares.frr_sole).toBe((1 + 1 / 2) / 2)
    expect(shares.unresolved_errors).toBe(0)
  })
})

// Lines of the second session:
//  0 user    Mend it.
//  1 call    Read
//  2 call    /repo/a.ts
//  3 result  export function startServer(port: number) {
//  4 result    const app = createApp({ port })
//  5 result    app.listen(port)
//  6 result    return app
//  7 result  }
//  8 result  export const USUAL_PORT = 8080
//  9 call    Edit                                    step 1
// 10 call    /repo/a.ts
// 11 call      const app = createApp({ port })
// 12 call      app.listen(port)
// 13 call      const app = createApp({ port, quiet: true })
// 14 call      app.listen(port)
// 15 result  updated
describe('a text to edit', () => {
  const file = [
    'export function startServer(port: number) {',
    '  const app = createApp({ port })',
    '  app.listen(port)',
    '  return app',
    '}',
    'export const USUAL_PORT = 8080',
  ]
  const edited = inventSession([
    { user: 'Mend it.' },
    { calls: [{ name: 'Read', input: { file_path: '/repo/a.ts' }, result: file.join('\n') }] },
    {
      calls: [
        {
          name: 'Edit',
          input: {
            file_path: '/repo/a.ts',
            old_string: file.slice(1, 3).join('\n'),
            new_string: '  const app = createApp({ port, quiet: true })\n  app.listen(port)',
          },
          result: 'updated',
        },
      ],
    },
  ])
  const needs = measureSession(edited, allBlocks(edited))
  const shares = (shows: Sight['shows'], text?: string): Score['shares'] =>
    scoreOf(needs, { shows, made: text === undefined ? [] : [wholePage(makePage(text, false))] }).shares
  const withoutFile = (line: number): boolean => line < 3 || line > 8

  test('is whole if its block is in view', () => {
    expect(needs.needs[1]?.editTexts).toEqual([
      { text: 'const app = createApp({ port })\n  app.listen(port)', places: [4], length: 2 },
    ])
    expect(shares(() => true)).toMatchObject({ edit_line: 1, edit_whole: 1 })
    expect(shares(withoutFile)).toMatchObject({ edit_line: 0, edit_whole: 0 })
  })

  test('is whole in an excerpt that contains all of it', () => {
    const piece = file.slice(0, 3).join('\n')
    expect(shares(withoutFile, `Of a.ts:\n${piece}`)).toMatchObject({ edit_line: 1, edit_whole: 1 })
  })

  test('is not whole in an excerpt that contains half of it', () => {
    const other = file.slice(2).join('\n')
    // "app.listen(port)" stands in it, the line before does not.
    expect(shares(withoutFile, `Of a.ts:\n${other}`)).toMatchObject({ edit_line: 1 / 2, edit_whole: 0 })
  })

  test('is not whole if its lines appear one by one', () => {
    const crumbs = [file[2], 'and', file[1]].join('\n')
    expect(shares(withoutFile, crumbs)).toMatchObject({
      edit_line: 0,
      edit_line_quoted: 1,
      edit_whole: 0,
    })
  })

  test('is two texts if a patch changes two places', () => {
    const patch = [
      '*** Begin Patch',
      '*** Update File: a.ts',
      '@@ startServer',
      '   const app = createApp({ port })',
      '-  app.listen(port)',
      '+  app.listen(port, "::1")',
      '@@',
      '-  return app',
      '*** End Patch',
    ].join('\n')
    const patched = inventSession([
      { user: 'Mend it.' },
      { calls: [{ name: 'Read', input: { file_path: '/repo/a.ts' }, result: file.join('\n') }] },
      { calls: [{ name: 'apply_patch', input: { patch }, result: 'Done!' }] },
    ])
    const texts = measureSession(patched, allBlocks(patched)).needs[1]?.editTexts
    expect(texts?.map(({ text, places }) => ({ text, places }))).toEqual([
      { text: 'const app = createApp({ port })\n  app.listen(port)', places: [4] },
      { text: 'return app', places: [6] },
    ])
  })
})

describe('what a second compaction loses', () => {
  const names = Array.from({ length: 24 }, (_, i) => `only_here_${String.fromCharCode(97 + i)}`)
  const long = inventSession([
    { user: 'Look.' },
    { calls: [{ name: 'Read', input: { file_path: 'a.log' }, result: names.join('\n') }] },
    { say: 'Nothing yet.' },
    { say: names.slice(0, 12).join(' ') },
    { say: names.slice(12).join(' ') },
  ])
  const measuredLong = measureSession(long, allBlocks(long))

  test('is the recall after one compaction minus the recall after two', () => {
    const scorer = createScorer(measuredLong, { recalls: false })
    const all: Sight = { shows: () => true, made: [] }
    const nothing: Sight = { shows: () => false, made: [] }
    scorer.add(0, all, false)
    scorer.add(1, all, false)
    scorer.add(2, all, true)
    scorer.add(3, nothing, true)
    expect(scorer.end().cascadeLoss).toBe(1)
  })

  test('is unknown if nothing survived two', () => {
    const scorer = createScorer(measuredLong, { recalls: false })
    for (const step of [0, 1, 2, 3]) scorer.add(step, { shows: () => true, made: [] }, false)
    expect(scorer.end().cascadeLoss).toBeNull()
  })
})

function standIn(text: string): Sight['made'][number] {
  return wholePage(makePage(text, true))
}

function score(shows: Sight['shows'], ...made: Sight['made']): Score {
  return scoreOf(measured, { shows, made })
}

function scoreOf(of: Measured, sight: Sight): Score {
  const scorer = createScorer(of, { recalls: false })
  of.needs.forEach((_, step) => scorer.add(step, sight, false))
  return scorer.end()
}
