import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { call, createBench, jsonLines, put, sentBody, text } from '../../../../test/kit/headless.ts'
import { createHooks } from '../agent/hooks/create-hooks.ts'
import { commandEnvironment } from '../agent/process/child-environment.ts'
import { openTeamTasks } from './team-tasks.ts'

const hook = (command: string, matcher = '') => [{ matcher, hooks: [{ type: 'command', command }] }]
/** Writes what it hears to a file, then says this and objects. */
const objects = (path: string, word: string, reason: string): string =>
  `cat > "${path}.in"; cat "${path}.in" >> "${path}"; if grep -q "${word}" "${path}.in"; then echo "${reason}" >&2; exit 2; fi`

test('hooks run for the tasks of a team, and may object to a new one and to completing one', async () => {
  const bench = await createBench()
  const path = join(bench.home, 'heard')
  const hooks = {
    TaskCreated: hook(objects(path, 'Delete', 'nothing is deleted here')),
    TaskCompleted: hook(objects(path, 'mend add', 'the tests are red'), 'ann'),
  }
  await put(join(bench.home, 'settings.json'), JSON.stringify({ hooks }))
  const create = (subject: string) => call('TaskCreate', { subject, description: 'Do it.' })
  const complete = (id: string) => call('TaskUpdate', { task_id: id, state: 'completed' })
  const made = [create('mend add'), create('Delete all'), create('mend sub'), complete('1'), complete('3')]
  bench.simulator.addSteps([
    ...made.map((one) => ({ content: [one] })),
    { content: [call('TaskList', {})] },
    { content: [text('Done.')] },
  ])
  await bench.run(['-p', 'Work', '--team', 'red', '--as', 'ann'])
  const said = JSON.stringify(sentBody(bench, 6)['messages'])
  expect(said).toContain(
    'Task 2 was cancelled: a TaskCreated hook of the user objects: nothing is deleted here',
  )
  expect(said).toContain(
    'Task 1 is not completed: a TaskCompleted hook of the user objects: the tests are red',
  )
  expect(said).toContain('1. [free] mend add\\n2. [cancelled] Delete all\\n3. [completed by you] mend sub')
  expect(jsonLines(await readFile(path, 'utf8'))).toMatchObject(
    [
      ['TaskCreated', '1', 'mend add'],
      ['TaskCreated', '2', 'Delete all'],
      ['TaskCreated', '3', 'mend sub'],
      ['TaskCompleted', '1', 'mend add'],
      ['TaskCompleted', '3', 'mend sub'],
    ].map(([event, id, subject]) => ({
      hook_event_name: event,
      task_id: id,
      task_subject: subject,
      task_description: 'Do it.',
      teammate_name: 'ann',
      team_name: 'red',
    })),
  )
})

test('a hook for an idle teammate may make it continue', async () => {
  const bench = await createBench()
  const path = join(bench.home, 'heard')
  await put(path, '')
  const hooks = createHooks({
    hooks: { TeammateIdle: hook(objects(path, 'red', 'look at the docs, too')) },
    env: commandEnvironment({ PATH: process.env['PATH'] }, bench.folder),
    cwd: bench.folder,
    projectFolder: bench.folder,
    sessionId: 's-1',
    transcriptPath: '/none',
    mode: () => 'default',
  })
  const none = async (): Promise<never> => await Promise.reject(new Error('not asked for'))
  const seated = {
    seat: { team: 'red', self: 'ann', leader: 'leader' },
    mailbox: { send: none, waiting: none, hasLetters: none, settle: none },
    members: async () => ['ann'],
    send: none,
    hasMail: async () => false,
    arrived: none,
    close: none,
  }
  const setup = { seated, hooks, home: bench.home, settings: { team: { taskLeaseMinutes: 10 } } }
  const world = { now: () => 1, printError: () => undefined }
  const team = await openTeamTasks(setup, world)
  expect(await team?.idle(new AbortController().signal)).toEqual(['look at the docs, too'])
  expect(jsonLines(await readFile(path, 'utf8'))).toMatchObject([
    { hook_event_name: 'TeammateIdle', teammate_name: 'ann', team_name: 'red' },
  ])
  expect(await openTeamTasks({ ...setup, seated: undefined }, world)).toBeUndefined()
})
