import { execFileSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { isJsonObject, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { call, createBench, jsonObject, put, text, type Bench } from '../kit/headless.ts'

// A leader and teammates as processes of their own, on the simulator, in a real repository.

function git({ folder }: Pick<Bench, 'folder'>, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.test', '-c', 'init.defaultBranch=main']
  const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync('git', [...who, ...args], { cwd: folder, encoding: 'utf8', env }).trim()
}

async function createRepository(): Promise<Bench> {
  const bench = await createBench()
  await put(join(bench.folder, 'a.txt'), 'the egret\n')
  git(bench, 'init', '-q')
  git(bench, 'add', '.')
  git(bench, 'commit', '-qm', 'first')
  return bench
}

const LEADS = { bodyContains: 'You lead a team.' }
const create = (subject: string) => call('TaskCreate', { subject, description: `${subject}, as it says.` })

/** Whoever has the task writes the file, says that it is done, and answers. */
function fileSteps(subject: string, id: number, path: string) {
  const when = { bodyContains: `number="${id}" by="leader"` }
  return [
    { content: [call('Write', { file_path: path, content: `${subject}\n` })], when },
    { content: [call('TaskUpdate', { task_id: String(id), state: 'completed' })], when },
    { content: [text(`Did ${id}.`)], when },
  ]
}

async function pidsOf({ home }: Bench, team: string): Promise<readonly number[]> {
  const folder = join(home, 'teams', team, 'members')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  const records = await Promise.all(
    names.map(async (name) => jsonObject(await readFile(join(folder, name), 'utf8'))),
  )
  return records.flatMap(({ process: own }) =>
    isJsonObject(own) && typeof own['pid'] === 'number' ? [own['pid']] : [],
  )
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function listIn(value: JsonObject, name: string): readonly JsonObject[] {
  const found = value[name]
  return Array.isArray(found) ? found.filter((one) => isJsonObject(one)) : []
}

test('a team does its tasks in worktrees of its own; the leader merges them, reports, and leaves nothing behind', async () => {
  const bench = await createRepository()
  bench.simulator.addSteps([
    { content: [create('Write one.txt'), create('Write two.txt')], when: LEADS },
    { content: [text('Planned.')], when: LEADS },
    { content: [text('All is done.')], when: LEADS },
    ...fileSteps('Write one.txt', 1, 'one.txt'),
    ...fileSteps('Write two.txt', 2, 'two.txt'),
  ])
  const flags = [
    '--agents',
    '2',
    '--name',
    'crew',
    '--permission-mode',
    'accept-edits',
    '--output-format',
    'json',
  ]
  const ran = await bench.start(['team', 'Write both files', ...flags]).ended
  const result = jsonObject(ran.out === '' ? `{"err":${JSON.stringify(ran.err)}}` : ran.out)
  const team = isJsonObject(result['team']) ? result['team'] : {}
  expect([
    ran.exit,
    result['result'],
    listIn(team, 'tasks').map(({ state, merge }) => [state, merge]),
  ]).toEqual([
    0,
    'All is done.',
    [
      ['completed', 'merged'],
      ['completed', 'merged'],
    ],
  ])
  expect(await readFile(join(bench.folder, 'one.txt'), 'utf8')).toBe('Write one.txt\n')
  expect(await readFile(join(bench.folder, 'two.txt'), 'utf8')).toBe('Write two.txt\n')
  expect(git(bench, 'status', '--porcelain')).toBe('')
  expect(git(bench, 'worktree', 'list').split('\n')).toHaveLength(1)
  expect(git(bench, 'branch').split('\n')).toHaveLength(1)
  const members = listIn(team, 'members')
  expect(members.map(({ name }) => name)).toEqual(['leader', 'ada', 'ben'])
  const costs = members.map(({ cost_usd }) => Number(cost_usd))
  expect(Number(result['total_cost_usd'])).toBeCloseTo(
    costs.reduce((sum, usd) => sum + usd, 0),
    9,
  )
  expect((await pidsOf(bench, 'crew')).filter(isAlive)).toEqual([])
})
