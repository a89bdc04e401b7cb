import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

import { expect, onTestFinished, test } from 'vitest'

import { foldTasks } from '../../packages/palimpsest/src/layers/7-agents/team/fold-tasks.ts'
import { parseTaskEvent, type TaskEvent } from '../../packages/palimpsest/src/layers/7-agents/team/task.ts'
import { createTaskList } from '../../packages/palimpsest/src/layers/7-agents/team/task-list.ts'
import { openFileTaskLog } from '../../packages/palimpsest/src/node/team/file-task-log.ts'
import { cases } from '../kit/cases.ts'
import { childFile } from '../kit/child.ts'
import { call, createBench, put, sentBody, text } from '../kit/headless.ts'
import { tempProject } from '../kit/temp-home.ts'

const CHILD = childFile('tasker')
const WORKERS = cases(2, 6).numRuns
const TASKS = cases(15, 400).numRuns
/** Who are killed in the middle of a task that they have, and at any other moment. */
const VICTIMS = cases(1, 40).numRuns
const KILLS = cases(1, 40).numRuns
const LEASE_MS = 1_500
const KILL_AFTER_MS = 300

interface Member {
  readonly child: ChildProcess
  readonly lines: string[]
  /** With all that it printed. */
  readonly state: { hasEnded: boolean }
}

function start(home: string, self: string, kind: 'worker' | 'victim'): Member {
  const args = [CHILD, home, self, String(LEASE_MS), kind]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => void lines.push(line))
  const state = { hasEnded: false }
  child.once('close', () => void (state.hasEnded = true))
  return { child, lines, state }
}

async function kill(member: Member): Promise<void> {
  member.child.kill('SIGKILL')
  await until(() => hasEnded(member))
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5)
}

const hasEnded = ({ state }: Member): boolean => state.hasEnded

test(`(X2) of ${TASKS} tasks that ${WORKERS} processes race for, with ${VICTIMS + KILLS} kills, none has two owners and each is done once`, async () => {
  const { home } = await tempProject()
  const log = await openFileTaskLog({ home, team: 'team' })
  const clock = { now: Date.now }
  const lead = createTaskList({ log, clock, self: 'leader', isLeader: true, leaseMs: LEASE_MS })
  for (let n = 1; n <= TASKS; n++)
    await lead.create({ subject: `task ${n}`, description: '', blockedBy: n % 5 === 0 ? [n - 1] : [] })
  const held: { name: string; task: number }[] = []
  for (let n = 0; n < VICTIMS; n++) {
    const victim = start(home, `victim-${n}`, 'victim')
    await until(() => victim.lines.some((line) => line.startsWith('has ')) || hasEnded(victim))
    held.push({ name: `victim-${n}`, task: Number(victim.lines[0]?.slice('has '.length)) })
    await kill(victim)
  }
  const workers = Array.from({ length: WORKERS }, (_none, n) => start(home, `worker-${n}`, 'worker'))
  for (let n = 0; n < KILLS; n++) {
    const at = n % WORKERS
    const member = workers[at]
    if (!member) continue
    await until(() => member.lines.length > 0)
    await sleep((n * 37) % KILL_AFTER_MS)
    await kill(member)
    workers[at] = start(home, `worker-${at}`, 'worker')
  }
  await until(() => workers.every(hasEnded))
  expect(workers.map(({ lines }) => lines.at(-1))).toEqual(workers.map(() => 'idle'))

  const events = await eventsIn(home)
  const board = foldTasks(events)
  expect(board.ignored).toEqual([])
  expect(overlaps(events)).toEqual([])
  const tasks = [...board.tasks.values()]
  expect(tasks.map(({ state }) => state)).toEqual(Array.from({ length: TASKS }, () => 'completed'))
  const ends = events.filter((event) => event.kind === 'changed' && event.state === 'completed')
  expect(ends.map(({ task }) => task).toSorted((a, b) => a - b)).toEqual(tasks.map(({ id }) => id))
  for (const { name, task } of held) {
    const found = board.tasks.get(task)
    expect(found?.former).toContainEqual({ owner: name, branch: `branch-of-${name}` })
    expect(found?.notes.map(({ text: note }) => note)).toContain(`${name} begins`)
  }
})

test('on a full disk nothing is half-written: whoever adds a task is told, and the list is unchanged', async () => {
  const { home } = await tempProject()
  const script = `trap '' XFSZ; ulimit -f 40; exec "$0" "$@"`
  const args = [CHILD, home, 'filler', String(LEASE_MS), 'filler']
  const { stdout } = spawnSync('sh', ['-c', script, process.execPath, ...args], { encoding: 'utf8' })
  expect(stdout).toMatch(/^failed after [1-9]\d?: cannot change .*tasks\.jsonl/)
  const added = Number(/^failed after (\d{1,2}):/.exec(stdout)?.[1])
  const path = join(home, 'teams/team/tasks.jsonl')
  expect((await readFile(path)).at(-1)).toBe(10)
  expect(await eventsIn(home)).toHaveLength(added)
  const log = await openFileTaskLog({ home, team: 'team' })
  const ann = createTaskList({
    log,
    clock: { now: Date.now },
    self: 'ann',
    isLeader: false,
    leaseMs: LEASE_MS,
  })
  expect(await ann.create({ subject: 'one more', description: '' })).toMatchObject({
    ok: true,
    task: { id: added + 1 },
  })
  expect(await readdir(join(home, 'teams/team'))).toEqual(['tasks.jsonl'])
})

async function eventsIn(home: string): Promise<readonly TaskEvent[]> {
  const lines = (await readFile(join(home, 'teams/team/tasks.jsonl'), 'utf8')).trimEnd().split('\n')
  return lines.flatMap((line) => {
    const event = parseTaskEvent(JSON.parse(line))
    return typeof event === 'string' ? [] : [event]
  })
}

/** Told by the lines alone: who took a task, or completed it, while somebody else had it. */
function overlaps(events: readonly TaskEvent[]): readonly TaskEvent[] {
  const owners = new Map<number, { readonly by: string; readonly until: number }>()
  return events.filter((event) => {
    if (event.kind !== 'changed') return false
    const has = owners.get(event.task)
    if (event.until !== undefined) owners.set(event.task, { by: event.by, until: event.until })
    return has !== undefined && has.by !== event.by && has.until > event.at
  })
}

test('a command that was killed holds its task no longer than its lease, and the next one reads what it did', async () => {
  const seen = { requests: 0 }
  const bench = await createBench({
    instead: (request) => {
      if (!request.url.endsWith('/messages') || ++seen.requests !== 4) return undefined
      // The model never answers: its command is killed in the middle of the task.
      return new Response(new ReadableStream({}), { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const settings = { team: { taskLeaseMinutes: 0.02 } }
  await put(join(bench.home, 'settings.json'), JSON.stringify(settings))
  bench.simulator.addSteps([
    { content: [call('TaskCreate', { subject: 'mend add', description: 'It subtracts.' })] },
    { content: [call('TaskUpdate', { task_id: '1', state: 'in_progress' })] },
    { content: [call('TaskUpdate', { task_id: '1', note: 'the sign in add.js is wrong' })] },
  ])
  const ann = bench.start(['-p', 'Mend add', '--team', 'team', '--as', 'ann'])
  await until(() => seen.requests >= 4)
  ann.child.kill('SIGKILL')
  await ann.ended
  const ends = (await eventsIn(bench.home)).map((event) => (event.kind === 'changed' && event.until) || 0)
  while (Date.now() <= Math.max(...ends)) await sleep(20)
  bench.simulator.addSteps([
    { content: [call('TaskList', {})] },
    { content: [call('TaskUpdate', { task_id: '1', state: 'in_progress' })] },
    { content: [call('TaskUpdate', { task_id: '1', state: 'completed' })] },
    { content: [text('Done.')] },
  ])
  const { exit } = await bench.run(['-p', 'Work', '--team', 'team', '--as', 'bob'])
  expect(exit).toBe(0)
  const said = JSON.stringify(sentBody(bench, bench.simulator.requests().length - 1)['messages'])
  expect(said).toContain('1. [free; ann had it] mend add')
  expect(said).toContain('ann had it before.\\nNote by ann:\\n  the sign in add.js is wrong')
  expect(said).toContain('1. [completed by you] mend add\\nAll tasks of the team have ended.')
})
