import { expect, test } from 'vitest'

import { compacted, said } from '../../../../../../test/kit/said.ts'
import { viewOf } from '../../../transcript/view.ts'
import { spanRefusal } from './keep-for.ts'
import { openRounds } from './open-rounds.ts'

const bash = (command: string, result: string) => ({ call: 'Bash', input: { command }, result })
const todos = (content: string) => ({
  call: 'TodoWrite',
  input: { todos: [{ content, status: 'pending' }] },
  result: 'ok',
})

test('only the newest to-do list and the newest result of a failed command are open', () => {
  const view = viewOf(
    said([
      { user: 'Mend it.' },
      todos('one'),
      bash('./check.sh', 'ok 1'),
      todos('two'),
      bash('./check.sh | tail -3', 'not ok 1'),
      bash('./check.sh | tail -5', 'not ok 1 - still'),
      bash('ls', 'a'),
    ]),
  )
  expect(openRounds(view)).toEqual([
    [5, 6],
    [9, 10],
  ])
  expect(openRounds(viewOf(said([{ user: 'Hello.' }, bash('ls', 'a')])))).toEqual([])
})

test('a span neither begins nor ends inside what the last compaction kept', () => {
  const before = said([{ user: 'One.' }, { model: 'Two.' }])
  const view = viewOf([
    ...before,
    ...compacted('b', 'e2'),
    ...said([{ user: 'Three.' }, { model: 'Four.' }], 5),
  ])
  const kept = 'b-summary'
  expect(spanRefusal(view, { kind: 'whole' })).toBeUndefined()
  expect(spanRefusal(view, { kind: 'from', entry: 'e5' })).toBeUndefined()
  expect(spanRefusal(view, { kind: 'up_to', entry: kept })).toContain('cannot end there')
  expect(spanRefusal(view, { kind: 'from', entry: kept })).toContain('cannot begin there')
})
