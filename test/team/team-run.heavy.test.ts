import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { readMember, type MemberRecord } from '../../packages/palimpsest-cli/src/team/team-record.ts'
import { stateOf } from '../../packages/palimpsest/src/node/files/process-identity.ts'
import { isJsonObject, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { call, createBench, jsonObject, put, text, type Bench, type Ran } from '../kit/headless.ts'

// A leader and teammates as processes of their own, on the simulator, in a real repository. A team that comes to its end undisturbed:
// six-failing.heavy.test.ts.

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

const JSON_OUTPUT = ['--output-format', 'json']
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

async function membersOf({ home }: Bench): Promise<readonly MemberRecord[]> {
  const found = await Promise.all(['ada', 'ben'].map(async (name) => await readMember(home, 'crew', name)))
  return found.flatMap((member) => member ?? [])
}

/** Also of one whose parent was killed, and that nobody has buried. */
async function statesOf(bench: Bench): Promise<readonly string[]> {
  return await Promise.all((await membersOf(bench)).map(async (member) => await stateOf(member.process)))
}

function listIn(value: JsonObject, name: string): readonly JsonObject[] {
  const found = value[name]
  return Array.isArray(found) ? found.filter((one) => isJsonObject(one)) : []
}

interface Report {
  readonly result: JsonObject
  readonly team: JsonObject
}

/** What it printed as JSON; where it printed nothing, what it complained of. */
function reportIn({ out, err }: Ran): Report {
  const result = jsonObject(out === '' ? JSON.stringify({ err }) : out)
  return { result, team: isJsonObject(result['team']) ? result['team'] : {} }
}

function mergesOf(team: JsonObject): readonly unknown[] {
  return listIn(team, 'tasks').map(({ state, merge }) => [state, merge])
}

const BOTH_MERGED = [
  ['completed', 'merged'],
  ['completed', 'merged'],
]

test('without a screen the team does not wait for the user to commit: it ends, says so, and keeps what is not merged', async () => {
  const bench = await createRepository()
  await put(join(bench.folder, '.gitignore'), 'out/\n')
  git(bench, 'add', '.')
  git(bench, 'commit', '-qm', 'ignore')
  await put(join(bench.folder, 'one.txt'), 'of the user\n')
  // Nobody wrote this, and nobody waits for it.
  await put(join(bench.home, 'teams/crew/mail/ada/note.json'), '{}')
  bench.simulator.addSteps([
    { content: [create('Write one.txt'), create('Report')], when: LEADS },
    { content: [text('Planned.')], when: LEADS },
    { content: [text('It waits for the user.')], when: LEADS, times: 3 },
    ...fileSteps('Write one.txt', 1, 'one.txt'),
    ...fileSteps('Report', 2, 'out/report.md'),
  ])
  const flags = ['--agents', '1', '--name', 'crew', '--permission-mode', 'accept-edits']
  const args = ['team', 'Write both', ...flags, ...JSON_OUTPUT]
  const ran = await bench.run(args, { startsOthers: true })
  const { team } = reportIn(ran)
  const { out: sessions } = await bench.run(['sessions', '--json'])
  expect(sessions).toContain('"title": "Write both"')
  expect(sessions).not.toContain('<team>')
  expect([ran.exit, mergesOf(team)]).toEqual([
    1,
    [
      ['completed', 'waiting'],
      ['completed', 'waiting'],
    ],
  ])
  expect(await readFile(join(bench.folder, 'one.txt'), 'utf8')).toBe('of the user\n')
  const kept = join(bench.folder, '.palimpsest/worktrees/crew-ada')
  expect(await readFile(join(kept, 'out/report.md'), 'utf8')).toBe('Report\n')
  expect(JSON.stringify(team['kept'])).toContain('1 file not committed, 1 commit')
  expect(await statesOf(bench)).toEqual(['gone'])
})

test('in a subfolder of a repository there are no worktrees, and the user is told why in plain words', async () => {
  const bench = await createRepository()
  const cwd = join(bench.folder, 'sub')
  await put(join(cwd, 'b.txt'), 'the heron\n')
  bench.simulator.addSteps([{ content: [text('Nothing to do.')] }])
  const args = ['team', 'Look', '--agents', '1', '--name', 'crew', '-p']
  const ran = await bench.run(args, { cwd, startsOthers: true })
  expect(ran.exit).toBe(0)
  expect(ran.err).toContain(
    `the repository is in ${bench.folder}, outside the working folders. To have worktrees, `,
  )
  expect(ran.err).not.toContain('isolation')
})

test('Ctrl-C ends a team at once: no process is left, unfinished work is kept, and the report says where', async () => {
  const bench = await createRepository()
  const [write] = fileSteps('Write one.txt', 1, 'one.txt')
  const when = { bodyContains: 'number="1" by="leader"' }
  bench.simulator.addSteps([
    { content: [create('Write one.txt')], when: LEADS },
    { content: [text('Planned.')], when: LEADS },
    ...(write ? [write] : []),
    { content: [text('Too late.')], when, delay_ms: 300_000 },
  ])
  const flags = ['--agents', '1', '--name', 'crew', '--permission-mode', 'accept-edits', '-p']
  const args = ['team', 'Write it', ...flags]
  const stop = new AbortController()
  // That a signal tells a process of ours to stop, packages/palimpsest-cli/src/agents/agents.heavy.test.ts shows.
  const running = process.env['SOAK'] ? bench.start(args) : undefined
  const ended = running?.ended ?? bench.run(args, { startsOthers: true, signal: stop.signal })
  await until(async () => {
    const [ada] = await membersOf(bench)
    const bodies = bench.simulator.requests().map(({ body }) => textOf(body))
    const asked = bodies.filter((body) => body.includes('number=\\"1\\" by=')).length
    const planned = bodies.filter((body) => body.includes(LEADS.bodyContains)).length
    return ada && ada.written.length > 0 && asked >= 2 && planned >= 2 ? ada : undefined
  })
  if (running) running.child.kill('SIGINT')
  else stop.abort()
  const { exit, signal, out } = await ended
  expect([exit, signal, await statesOf(bench)]).toEqual([1, null, ['gone']])
  const kept = join(bench.folder, '.palimpsest/worktrees/crew-ada')
  expect(await readFile(join(kept, 'one.txt'), 'utf8')).toBe('Write one.txt\n')
  // Who had no time to give it back still has it.
  const task = /Team crew: 0 of 1 tasks completed\n {2}1 {2}Write one\.txt: (?:pending|in progress by ada)\n/
  expect(out).toMatch(task)
  expect(out).toContain(`ada: Its work is in the git worktree ${kept}`)
  expect(git(bench, 'status', '--porcelain')).toBe('')
})

test('a killed leader is resumed with its team: living teammates are found again, dead ones are restarted, nothing is lost', async () => {
  const bench = await createRepository()
  const [write, ...rest] = fileSteps('Write two.txt', 2, 'two.txt')
  bench.simulator.addSteps([
    { content: [create('Write one.txt'), create('Write two.txt')], when: LEADS },
    { content: [text('Planned.')], when: LEADS },
    ...fileSteps('Write one.txt', 1, 'one.txt'),
    // It is killed while it waits for this.
    { ...write, content: [text('Too late.')], delay_ms: 300_000 },
  ])
  const flags = ['--permission-mode', 'accept-edits', ...JSON_OUTPUT]
  const first = bench.start(['team', 'Write both files', '--agents', '2', '--name', 'crew', ...flags])
  const before = await until(async () => {
    const members = await membersOf(bench)
    const isFinished = members.some(({ finished }) => finished.length > 0)
    const [owner] = await ownersOf(bench, 2)
    const bodies = bench.simulator.requests().map(({ body }) => textOf(body))
    const isAsked = bodies.some((body) => body.includes('number=\\"2\\" by='))
    const hasPlanned = bodies.filter((body) => body.includes(LEADS.bodyContains)).length >= 2
    return isFinished && owner !== undefined && isAsked && hasPlanned ? { members, owner } : undefined
  })
  const dead = before.members.find(({ name }) => name === before.owner)
  const alive = before.members.find(({ name }) => name !== before.owner)
  first.child.kill('SIGKILL')
  if (dead) process.kill(dead.process.pid, 'SIGKILL')
  expect((await first.ended).signal).toBe('SIGKILL')
  bench.simulator.addSteps([
    { content: [text('I wait.')], when: LEADS },
    { content: [text('All is done.')], when: LEADS },
    ...(write ? [write, ...rest] : []),
  ])
  const ran = await bench.run(['team', '--resume', 'crew', ...flags], { startsOthers: true })
  const { result, team } = reportIn(ran)
  expect([ran.exit, result['result'], mergesOf(team)]).toEqual([0, 'All is done.', BOTH_MERGED])
  const after = await membersOf(bench)
  const again = (name = ''): MemberRecord | undefined => after.find((member) => member.name === name)
  expect(again(alive?.name)?.process).toEqual(alive?.process)
  expect(again(dead?.name)?.sessionId).toBe(dead?.sessionId)
  expect(again(dead?.name)?.process).not.toEqual(dead?.process)
  expect(await readFile(join(bench.folder, 'one.txt'), 'utf8')).toBe('Write one.txt\n')
  expect(await readFile(join(bench.folder, 'two.txt'), 'utf8')).toBe('Write two.txt\n')
  expect(git(bench, 'worktree', 'list').split('\n')).toHaveLength(1)
  expect(await statesOf(bench)).toEqual(['gone', 'gone'])
})

/** Waits for a state, however long the machine takes. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look().catch(() => undefined)
    if (found !== undefined) return found
    await sleep(50)
  }
}

/** Who has the task, the newest first. */
async function ownersOf({ home }: Bench, task: number): Promise<readonly string[]> {
  const lines = (await readFile(join(home, 'teams/crew/tasks.jsonl'), 'utf8')).trim().split('\n')
  const events = lines.map((line) => jsonObject(line)).filter((event) => event['task'] === task)
  return events.flatMap(({ owner }) => (typeof owner === 'string' ? [owner] : [])).toReversed()
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}
