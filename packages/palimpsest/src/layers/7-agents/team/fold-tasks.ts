import type { TaskChanged, TaskCreated, TaskEvent, TaskState } from './task.ts'

// What the events of a team's tasks add up to. Their order decides: of two decided under the same epoch the first counts, and the second is
// skipped, with a note.

export interface TaskNote {
  readonly at: number
  readonly by: string
  readonly text: string
}

/** A task after its events. */
export interface Task {
  readonly id: number
  readonly subject: string
  readonly description: string
  readonly createdBy: string
  readonly state: TaskState
  /** Who has it, or completed it. The lease decides whether this still counts: ask `ownerAt`. */
  readonly owner: string | undefined
  readonly until: number
  /** Someone else gave it to its owner, who has not begun. */
  readonly isGiven: boolean
  readonly epoch: number
  readonly blockedBy: readonly number[]
  /** Where the newest owner's work is. */
  readonly branch: string | undefined
  /** Who had it before, and where that work is. */
  readonly former: readonly { readonly owner: string; readonly branch: string | undefined }[]
  readonly notes: readonly TaskNote[]
  /** Every event that counted, except leases that were merely extended. */
  readonly history: readonly TaskEvent[]
}

/** All tasks of a team. */
export interface TaskBoard {
  /** By id, oldest first. */
  readonly tasks: ReadonlyMap<number, Task>
  readonly nextId: number
  /** Events that do not count, each with the reason. */
  readonly ignored: readonly { readonly event: TaskEvent; readonly why: string }[]
}

/** The list after these events. */
export function foldTasks(events: readonly TaskEvent[]): TaskBoard {
  const tasks = new Map<number, Task>()
  const ignored: { event: TaskEvent; why: string }[] = []
  let nextId = 1
  for (const event of events) {
    // Counts even if the line that created the task is damaged: nobody else gets its number.
    nextId = Math.max(nextId, event.task + 1)
    const next = applyEvent(tasks.get(event.task), event)
    if (typeof next === 'string') ignored.push({ event, why: next })
    else tasks.set(event.task, next)
  }
  return { tasks, nextId, ignored }
}

function applyEvent(task: Task | undefined, event: TaskEvent): Task | string {
  if (event.kind === 'created') return task ? `there is a task ${event.task} already` : taskOf(event)
  return task ? applyChange(task, event) : `there is no task ${event.task}`
}

function taskOf(event: TaskCreated): Task {
  const { task: id, subject, description, by, blockedBy, owner, until = 0 } = event
  return {
    id,
    subject,
    description,
    createdBy: by,
    state: 'pending',
    owner,
    until,
    isGiven: owner !== undefined,
    epoch: 0,
    blockedBy,
    branch: undefined,
    former: [],
    notes: [],
    history: [event],
  }
}

function applyChange(task: Task, event: TaskChanged): Task | string {
  const { at, by, epoch, owner, until, state, note, blockedBy, branch } = event
  const isOfNobody = owner === undefined && until === undefined && state === undefined
  const isNext = epoch === task.epoch + 1
  // A note is kept whoever wrote it: what a former owner did is worth knowing.
  if (!isNext && !(isOfNobody && blockedBy === undefined) && (owner !== undefined || epoch !== task.epoch))
    return `task ${task.id} had changed hands meanwhile: what ${by} decided came too late`
  const changesHands = owner !== undefined && owner !== task.owner
  return {
    ...task,
    epoch: isNext ? epoch : task.epoch,
    state: state ?? task.state,
    owner: owner === undefined ? task.owner : (owner ?? undefined),
    until: until ?? task.until,
    isGiven: owner === undefined ? task.isGiven : owner !== null && owner !== by,
    blockedBy: blockedBy ?? task.blockedBy,
    branch: branch ?? (changesHands ? undefined : task.branch),
    former:
      changesHands && task.owner !== undefined
        ? [...task.former, { owner: task.owner, branch: task.branch }]
        : task.former,
    notes: note === undefined ? task.notes : [...task.notes, { at, by, text: note }],
    history:
      isOfNobody || owner !== undefined || state !== undefined ? [...task.history, event] : task.history,
  }
}

export function hasEnded({ state }: Task): boolean {
  return state === 'completed' || state === 'cancelled'
}

/** Longest lease. One that ends later was written with a wrong clock, or by someone outside the team. */
export const LEASE_MS_MAX = 86_400_000

/** Who has it now: nobody after the lease. An impossible lease does not count. */
export function ownerAt(task: Task, now: number): string | undefined {
  return hasEnded(task) || (task.until > now && !isBeyondLeases(task, now)) ? task.owner : undefined
}

export function isBeyondLeases({ until }: Pick<Task, 'until'>, now: number): boolean {
  return until > now + LEASE_MS_MAX
}

/** Of what blocks it, what has not ended. */
export function blockersOf({ tasks }: TaskBoard, { blockedBy }: Task): readonly number[] {
  return blockedBy.filter((id) => {
    const blocker = tasks.get(id)
    return blocker !== undefined && !hasEnded(blocker)
  })
}

/** Tasks that anyone may take. */
export function freeTasks(board: TaskBoard, now: number): readonly Task[] {
  return [...board.tasks.values()].filter(
    (task) => !hasEnded(task) && ownerAt(task, now) === undefined && blockersOf(board, task).length === 0,
  )
}

/** The list is done when nothing is left to do. */
export function isAllDone({ tasks }: TaskBoard): boolean {
  return [...tasks.values()].every(hasEnded)
}
