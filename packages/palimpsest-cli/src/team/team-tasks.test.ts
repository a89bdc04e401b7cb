import { expect, test } from 'vitest'

import type { Json, JsonObject } from 'palimpsest/wire'
import { call, createBench, sentBody, text, type Bench } from '../../../../test/kit/headless.ts'

// The tools of the task list, in runs that are one of a team.

type Call = ReturnType<typeof call>

/** One run whose model makes these calls, one after the other; what each came to. */
async function calls(bench: Bench, as: string, ...made: readonly Call[]): Promise<readonly string[]> {
  const before = bench.simulator.requests().length
  bench.simulator.addSteps([...made.map((one) => ({ content: [one] })), { content: [text('Done.')] }])
  const { exit, err } = await bench.run(['-p', 'Work', '--team', 'red', '--as', as])
  expect({ exit, err }).toMatchObject({ exit: 0 })
  return made.map((_one, i) => lastResult(bench, before + i + 1))
}

function lastResult(bench: Bench, index: number): string {
  const body: unknown = sentBody(bench, index)['messages']
  const last: unknown = Array.isArray(body) ? body.at(-1) : undefined
  return JSON.stringify(last)
}

test('a run of a team has the tools for its list, any other run does not', async () => {
  const bench = await createBench()
  const names = (index: number): readonly unknown[] => {
    const tools: unknown = sentBody(bench, index)['tools']
    return Array.isArray(tools) ? tools.map((tool: { name?: unknown }) => tool.name) : []
  }
  bench.simulator.addSteps([{ content: [text('Yes.')] }, { content: [text('Yes.')] }])
  await bench.run(['-p', 'Hello'])
  await bench.run(['-p', 'Hello', '--team', 'red', '--as', 'ann'])
  expect(names(0).filter((name) => String(name).startsWith('Task'))).toEqual(['TaskOutput', 'TaskStop'])
  expect(names(1)).toEqual(expect.arrayContaining(['TaskCreate', 'TaskUpdate', 'TaskList']))
})

test('the leader fills the list, and two teammates take from it; each is told what it can do', async () => {
  const bench = await createBench()
  const create = (subject: string, blocked?: readonly Json[]) =>
    call('TaskCreate', { subject, description: `How to ${subject}.`, blocked_by: blocked ?? [] })
  const update = (input: JsonObject) => call('TaskUpdate', input)
  const [one, two, three, wrong] = await calls(
    bench,
    'leader',
    create('mend add'),
    create('mend sub'),
    create('write it up', ['1', 2]),
    create('run in circles', ['9']),
  )
  expect(one).toContain('Task 1 is on the list.')
  expect(two).toContain('Task 2 is on the list.')
  expect(three).toContain('Task 3 is on the list, blocked by 1, 2.')
  expect(wrong).toContain('Nothing was changed: there is no task 9; there are 1, 2 and 3.')

  const [list, taken, blocked, noted] = await calls(
    bench,
    'ann',
    call('TaskList', {}),
    update({ task_id: '1', state: 'in_progress' }),
    update({ task_id: '3', state: 'in_progress' }),
    update({ task_id: '#1', note: 'add has two bugs' }),
  )
  expect(list).toContain('3 tasks: 2 free, 1 blocked.\\n1. [free] mend add\\n')
  expect(taken).toContain('Task 1 is yours.')
  expect(taken).toContain('Task 1, by leader: mend add\\n  How to mend add.')
  expect(blocked).toContain('task 3 is blocked by 1 and 2; take another: 2 is free.')
  expect(noted).toContain('1. [in progress by you] mend add\\nThe note is kept.')

  const [refused, ended, other, nobody, odd] = await calls(
    bench,
    'bob',
    update({ task_id: 1, state: 'completed' }),
    update({ task_id: '2', state: 'completed' }),
    call('TaskList', {}),
    update({ task_id: '3', owner: 'zoe' }),
    update({ task_id: 'three', state: 'done' }),
  )
  expect(refused).toMatch(/task 1 is owned by ann for at most another 10 minutes; take another: 2 is free\./)
  expect(refused).toContain('"is_error":true')
  expect(ended).toContain('2. [completed by you] mend sub\\nNo task is free now.')
  expect(other).toContain('1. [in progress by ann, at most another 10 minutes] mend add')
  expect(nobody).toContain('in the team. There are: ann, bob, leader.')
  expect(odd).toContain('must be one of pending, in_progress, completed, cancelled')
})
