import { setTimeout as sleep } from 'node:timers/promises'

import { freeTasks, isAllDone } from '../../packages/palimpsest/src/layers/7-agents/team/fold-tasks.ts'
import { createTaskList } from '../../packages/palimpsest/src/layers/7-agents/team/task-list.ts'
import { openFileTaskLog } from '../../packages/palimpsest/src/node/team/file-task-log.ts'

// A filler creates tasks until nothing more can be written.
// A teammate in a process of its own: takes whatever is free, notes what it did and completes it, until all is done or it is killed. A victim
// stops in the middle of its first task and waits for the end.

const [home = '', self = '', leaseMs = '0', kind = 'worker'] = process.argv.slice(2)
const log = await openFileTaskLog({ home, team: 'team' })
const list = createTaskList({
  log,
  clock: { now: Date.now },
  self,
  isLeader: false,
  leaseMs: Number(leaseMs),
  branch: `branch-of-${self}`,
})

if (kind === 'filler')
  for (let n = 1; ; n++) {
    const failed = await list.create({ subject: `task ${n}`, description: 'x'.repeat(3_000) }).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    if (failed === undefined) continue
    process.stdout.write(`failed after ${n - 1}: ${failed}\n`)
    process.exit()
  }

/** Not all want the same. */
let turn = process.pid
for (;;) {
  const board = await list.board()
  if (isAllDone(board)) break
  await list.renew()
  const free = freeTasks(board, Date.now())
  const wanted = free[turn++ % Math.max(1, free.length)]
  if (!wanted) {
    await sleep(50)
    continue
  }
  const taken = await list.update({ task: wanted.id, state: 'in_progress', note: `${self} begins` })
  if (!taken.ok) continue
  process.stdout.write(`has ${wanted.id}\n`)
  if (kind === 'victim') await sleep(2 ** 30)
  await sleep(turn % 10)
  const done = await list.update({ task: wanted.id, state: 'completed', note: `${self} is done` })
  process.stdout.write(`${done.ok ? 'done' : 'late'} ${wanted.id}\n`)
}
process.stdout.write('idle\n')
