import type { Clock, TaskLog } from '../../../ports.ts'
import { foldTasks, hasEnded, LEASE_MS_MAX, type Task, type TaskBoard } from './fold-tasks.ts'
import {
  planChange,
  planCreation,
  planRenewals,
  type TaskActor,
  type TaskDraft,
  type TaskWish,
} from './plan-task.ts'
import type { TaskEvent } from './task.ts'

// The task list of a team, as one process of it sees it. It decides with all events before its own and none at the same time, and it goes
// by what the list says afterwards, not by what it intended.

export interface TaskListOptions {
  readonly log: TaskLog<TaskEvent>
  readonly clock: Pick<Clock, 'now'>
  /** Who creates and takes tasks here. */
  readonly self: string
  readonly isLeader: boolean
  /** How long a task stays with a silent owner; a day at most. */
  readonly leaseMs: number
  /** Where the work of this process is. */
  readonly branch?: string | undefined
}

/** The result of a change: the task as it is now, or why nothing changed. */
export type TaskAnswer =
  | { readonly ok: true; readonly task: Task; readonly before: Task | undefined; readonly board: TaskBoard }
  | { readonly ok: false; readonly why: string }

/** The list, for one process of the team. */
export interface TaskList {
  readonly create: (draft: TaskDraft) => Promise<TaskAnswer>
  readonly update: (wish: TaskWish) => Promise<TaskAnswer>
  readonly board: () => Promise<TaskBoard>
  /** Called while this process works: it keeps its tasks. Looks at the list only when a lease might run out. */
  readonly renew: () => Promise<void>
  /** Lines that could not be read, each returned once. */
  readonly damaged: () => readonly string[]
}

/** Checks per lease: the first one extends it, so one may fail. */
const LOOKS_IN_A_LEASE = 3
/** If the log lets two decide at once, the second decides again, at most this many times. */
const TRIES_MAX = 10

/** Remembers which tasks this process has: one for each process, for as long as it runs. */
export function createTaskList(options: TaskListOptions): TaskList {
  const { log, clock, self, isLeader, branch } = options
  const leaseMs = Math.min(options.leaseMs, LEASE_MS_MAX)
  const epochs = new Map<number, number>()
  const told = new Set<string>()
  const untold: string[] = []
  let lookedAt = Number.NEGATIVE_INFINITY
  const actor = (): TaskActor => ({
    self,
    isLeader,
    now: clock.now(),
    leaseMs,
    branch,
    epochOf: (task) => epochs.get(task),
  })
  const boardOf = ({ events, damaged }: Awaited<ReturnType<typeof log.read>>): TaskBoard => {
    const board = foldTasks(events)
    const lines = [...damaged, ...board.ignored.map(({ why }) => `a change counts for nothing: ${why}`)]
    for (const line of lines)
      if (!told.has(line)) {
        told.add(line)
        untold.push(line)
      }
    return board
  }
  const change = async (
    plan: (board: TaskBoard, by: TaskActor) => TaskEvent | string,
  ): Promise<TaskAnswer> => {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const decided: { plan?: TaskEvent | string; before?: TaskBoard } = {}
      const logged = await log.change((events) => {
        decided.before = foldTasks(events)
        decided.plan = plan(decided.before, actor())
        return typeof decided.plan === 'string' ? [] : [decided.plan]
      })
      const board = boardOf(logged)
      const { plan: event = 'the list was not asked', before } = decided
      if (typeof event === 'string') return { ok: false, why: event }
      const task = board.tasks.get(event.task)
      if (!task || !counts(task, event)) continue
      noteEpoch(epochs, task, event)
      return { ok: true, task, before: before?.tasks.get(event.task), board }
    }
    return { ok: false, why: 'the list changes all the time. Try again' }
  }
  return {
    create: (draft) => change((board, by) => planCreation(board, draft, by)),
    update: (wish) => change((board, by) => planChange(board, wish, by)),
    board: async () => boardOf(await log.read()),
    renew: async () => {
      // A clock that was set back must not prevent the check.
      if (Math.abs(clock.now() - lookedAt) < leaseMs / LOOKS_IN_A_LEASE) return
      lookedAt = clock.now()
      if (planRenewals(boardOf(await log.read()), actor()).length === 0) return
      await log.change((events) => planRenewals(foldTasks(events), actor()))
    },
    damaged: () => untold.splice(0),
  }
}

function counts(task: Task, event: TaskEvent): boolean {
  return task.history.some((one) => JSON.stringify(one) === JSON.stringify(event))
}

/** What this process has, or had when someone else took it; a note alone does not change that. */
function noteEpoch(epochs: Map<number, number>, task: Task, event: TaskEvent): void {
  if (event.kind === 'created' || (event.owner === undefined && event.state === undefined)) return
  if (task.owner === event.by && !hasEnded(task)) epochs.set(task.id, task.epoch)
  else epochs.delete(task.id)
}
