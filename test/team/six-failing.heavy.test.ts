import { execFileSync, spawnSync } from 'node:child_process'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { parseSteps, type ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { isJsonObject, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { createBench, jsonObject, stringIn, type Bench } from '../kit/headless.ts'
import { ROOT } from '../kit/source-tree.ts'

// The example of a team, as its page tells to run it: a repository with six failing tests, a leader and three teammates in processes of their
// own. In CI one of the three is left out, since each process more takes a second, and the others have one test each.

const EXAMPLE = join(ROOT, 'examples/team')
const MATES = process.env['SOAK'] ? ['ada', 'ben', 'cleo'] : ['ada', 'ben']
/** One teammate does several tasks in team-run.heavy.test.ts too. */
const EACH = process.env['SOAK'] ? 2 : 1
const TESTS = MATES.length * EACH

function git({ folder }: Pick<Bench, 'folder'>, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.test', '-c', 'init.defaultBranch=main']
  const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync('git', [...who, ...args], { cwd: folder, encoding: 'utf8', env }).trim()
}

async function readScript(): Promise<readonly ScriptStep[]> {
  const steps = parseSteps(JSON.parse(await readFile(join(EXAMPLE, 'script.json'), 'utf8')))
  if (typeof steps === 'string') throw new Error(steps)
  return steps
}

/** Without the second teammate, the third one in its place, and of each of the two one task. No test is run by one process more than it needs. */
function shortened(steps: readonly ScriptStep[]): readonly ScriptStep[] {
  const isLeftOut = (part: object): boolean =>
    /number=\\"[2345]\\"|"owner":"ben"|"subject":"Fix src\/(?:minutes|by-name)\.js"/.test(
      JSON.stringify(part),
    )
  const kept = steps
    .filter(({ when }) => !isLeftOut({ when }))
    .map((step) => ({ ...step, content: step.content?.filter((block) => !isLeftOut(block)) }))
  const text = JSON.stringify({ steps: kept })
    .replaceAll('cleo', 'ben')
    .replaceAll(/(number=\\"|"task_id":")6/g, '$12')
    .replaceAll('node --test ', 'node --test --test-isolation=none ')
  const fewer = parseSteps(JSON.parse(text))
  if (typeof fewer === 'string') throw new Error(fewer)
  return fewer
}

/** What the simulator answers, as the example has it. */
async function openExample(): Promise<Bench> {
  const script = await readScript()
  const steps = process.env['SOAK'] ? script : shortened(script)
  const bench = await createBench()
  bench.simulator.addSteps(steps)
  await cp(join(EXAMPLE, 'repository'), bench.folder, { recursive: true })
  git(bench, 'init', '-q')
  git(bench, 'add', '.')
  git(bench, 'commit', '-qm', 'six mistakes')
  return bench
}

/** How many tests of the main branch pass, and how many fail; all in one process. */
async function countTests({ folder }: Bench): Promise<{ readonly ok: number; readonly failed: number }> {
  const names = (await readdir(join(folder, 'test'))).map((name) => `./test/${name}`)
  const all = names.map((name) => `await import(${JSON.stringify(name)})`).join('\n')
  await writeFile(join(folder, ALL), all)
  const options = { cwd: folder, env: {}, encoding: 'utf8' } as const
  const { stdout } = spawnSync(process.execPath, ['--test-reporter=tap', ALL], options)
  await rm(join(folder, ALL))
  const lines = stdout.split('\n')
  return {
    ok: lines.filter((line) => line.startsWith('ok ')).length,
    failed: lines.filter((line) => line.startsWith('not ok ')).length,
  }
}

const ALL = 'all-tests.mjs'

async function processesOf({ home }: Bench, team: string): Promise<readonly number[]> {
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

test(`${MATES.length} teammates fix ${TESTS} failing tests, ${EACH} each, without a conflict; the report says who did it and for how much, and nothing is left behind`, async () => {
  const bench = await openExample()
  const allowed = ['--permission-mode', 'accept-edits', '--allowed-tools', 'Bash(node --test:*)']
  const flags = ['--agents', String(MATES.length), '--name', 'kitchen', ...allowed, '--output-format', 'json']
  const ran = await bench.run(['team', 'Fix the failing tests', ...flags], { startsOthers: true })
  expect({ exit: ran.exit, err: ran.err }).toMatchObject({ exit: 0 })
  expect(await countTests(bench)).toEqual({ ok: TESTS, failed: 6 - TESTS })

  const result = jsonObject(ran.out)
  const team = isJsonObject(result['team']) ? result['team'] : {}
  expect(listIn(team, 'tasks').map(({ owner, state, merge }) => [owner, state, merge])).toEqual(
    MATES.flatMap((name) => Array.from({ length: EACH }, () => [name, 'completed', 'merged'])),
  )
  expect(result['result']).toContain('All six tests pass.')
  const members = listIn(team, 'members')
  expect(members.map(({ name, completed }) => [name, completed])).toEqual([
    ['leader', []],
    ...MATES.map((name, i) => [name, Array.from({ length: EACH }, (_, n) => i * EACH + n + 1)]),
  ])
  expect(members.filter(({ cost_usd: usd }) => !(Number(usd) > 0))).toEqual([])
  const costs = members.map(({ cost_usd: usd }) => Number(usd))
  expect(Number(result['total_cost_usd'])).toBeCloseTo(
    costs.reduce((sum, usd) => sum + usd, 0),
    9,
  )
  expect(team['kept']).toEqual([])

  expect(git(bench, 'status', '--porcelain')).toBe('')
  expect(git(bench, 'worktree', 'list').split('\n')).toHaveLength(1)
  expect(git(bench, 'branch').split('\n')).toHaveLength(1)
  expect(git(bench, 'log', '--merges', '--first-parent', '--format=%s').split('\n')).toHaveLength(TESTS)
  expect((await processesOf(bench, 'kitchen')).filter(isAlive)).toEqual([])
  const bodies = bench.simulator.requests().map(({ body }) => JSON.stringify(body))
  const lead = bodies.findLast((body) => body.includes('You lead a team.'))
  expect(lead).toContain('both of mine are done')
  // Every request was foreseen, and none refused.
  const statuses = bench.simulator.requests().map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200]))
})

test("each of the six fails at first, and passes with the script's changes", async () => {
  const bench = await createBench()
  await cp(join(EXAMPLE, 'repository'), bench.folder, { recursive: true })
  expect(await countTests(bench)).toEqual({ ok: 0, failed: 6 })
  const calls = (await readScript()).flatMap(({ content }) => content.filter(isJsonObject))
  const edits = calls.flatMap(({ name, input }) => (name === 'Edit' && isJsonObject(input) ? [input] : []))
  for (const edit of edits) {
    const path = join(bench.folder, stringIn(edit, 'file_path'))
    const [before, after, ...more] = (await readFile(path, 'utf8')).split(stringIn(edit, 'old_string'))
    expect([after === undefined, more]).toEqual([false, []])
    await writeFile(path, [before, after].join(stringIn(edit, 'new_string')))
  }
  expect(await countTests(bench)).toEqual({ ok: 6, failed: 0 })
})
