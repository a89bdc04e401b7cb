import { expect, test } from 'vitest'

import { said } from '../../../../test/kit/said.ts'
import { viewOf } from '../transcript/view.ts'
import { contradictedCalls } from './contradicted.ts'

const run = (command: string, result: string) => ({ call: 'Bash', input: { command }, result })

test('the newest result of a command decides, however its output was filtered', () => {
  const failed = run('npm test 2>&1 | grep -E "FAIL|PASS" | head -5', 'FAIL a')
  const view = viewOf(said([failed, run('npm run lint', 'fine'), run('cd /p && npm test', 'PASS')]))
  expect([...contradictedCalls(view)]).toEqual([['t1', 't5']])
})

test('a result that differs only in numbers contradicts nothing', () => {
  expect([
    ...contradictedCalls(viewOf(said([run('make', 'done in 3s'), run('make', 'done in 4s')]))),
  ]).toEqual([])
})
