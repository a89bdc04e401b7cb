import { isAgentName } from '../mail/letter.ts'
import {
  blockersOf,
  freeTasks,
  hasEnded,
  isBeyondLeases,
  ownerAt,
  type Task,
  type TaskBoard,
} from './fold-tasks.ts'
import {
  BLOCKERS_MAX,
  DESCRIPTION_CHARS_MAX,
  NOTE_CHARS_MAX,
  NOTES_CHARS_MAX,
  SUBJECT_CHARS_MAX,
  TASK_ID_MAX,
  TASKS_MAX,
  type TaskChanged,
  type TaskCreated,
  type TaskState,
} from './task.ts'

// Whether a task may be created or changed like this: the event, or the reason against it with what to do instead.

/** A task before it has a number. */
export interface TaskDraft {
  readonly subject: string
  readonly description: string
  /** Who it is for. */
  readonly owner?: string | undefined
  readonly blockedBy?: readonly number[] | undefined
}

/** What someone wants to change in a task; what is absent stays. */
export interface TaskWish {
  readonly task: number
  readonly state?: TaskState | undefined
  /** Null: nobody. */
  readonly owner?: string | null | undefined
  readonly note?: string | undefined
  readonly blockedBy?: readonly number[] | undefined
}

/** Who wants it, and when. */
export interface TaskActor {
  readonly self: string
  /** May give any task to anyone, and reopen it. */
  readonly isLeader: boolean
  readonly now: number
  readonly leaseMs: number
  /** Where its work is. */
  readonly branch: string | undefined
  /** The epoch under which this process has a task; undefined if it never had it. */
  readonly epochOf: (task: number) => number | undefined
}

export function planCreation(board: TaskBoard, draft: TaskDraft, actor: TaskActor): TaskCreated | string {
  // It becomes the subject of commits and a line on screens: nothing that a terminal obeys, and no zero byte, which cannot be passed to a
  // program.
  const subject = draft.subject.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  const description = draft.description.trim()
  if (subject === '') return 'a task needs a subject of a few words'
  if (subject.length > SUBJECT_CHARS_MAX)
    return `the subject has ${subject.length} characters; at most ${SUBJECT_CHARS_MAX} are kept. Put the rest into the description`
  if (description.length > DESCRIPTION_CHARS_MAX)
    return `the description has ${description.length} characters; at most ${DESCRIPTION_CHARS_MAX} are kept. Write the rest to a file and name it`
  if (board.tasks.size >= TASKS_MAX) return `the list has ${TASKS_MAX} tasks, and takes no more`
  if (board.nextId > TASK_ID_MAX) return `a task has the number ${TASK_ID_MAX}, and there is no higher one`
  const blockedBy = [...new Set(draft.blockedBy)]
  const wrong = whyNoOwner(draft.owner) ?? whyNotBlocked(board, board.nextId, blockedBy)
  if (wrong !== undefined) return wrong
  const { self: by, now: at, leaseMs } = actor
  const { owner } = draft
  const until = owner === undefined ? undefined : at + leaseMs
  return { kind: 'created', task: board.nextId, at, by, subject, description, blockedBy, owner, until }
}

export function planChange(board: TaskBoard, wish: TaskWish, actor: TaskActor): TaskChanged | string {
  const task = board.tasks.get(wish.task)
  if (!task) return `there is no task ${wish.task}; ${rangeOf(board)}`
  const note = wish.note?.trim()
  const wrong = whyNoNote(task, note) ?? whyNoOwner(wish.owner) ?? whyNoBlockers(board, task, wish, actor)
  if (wrong !== undefined) return wrong
  const hands = planHands(board, task, wish, actor)
  if (typeof hands === 'string') return hands
  const blockedBy = wish.blockedBy && [...new Set(wish.blockedBy)]
  if (!hands && !note && !blockedBy)
    return 'nothing would change: name a state, an owner, a note or what blocks it'
  const event = { kind: 'changed' as const, task: task.id, at: actor.now, by: actor.self, epoch: task.epoch }
  return { ...event, ...hands, note: note === '' ? undefined : note, blockedBy }
}

/** Share of a lease: if less is left, it is extended. */
const RENEWED_BELOW = 0.75

/** Extends the leases of tasks that this process has. Not of those that an earlier process with the same name had. */
export function planRenewals(board: TaskBoard, actor: TaskActor): readonly TaskChanged[] {
  const { self: by, now: at, leaseMs } = actor
  return (
    [...board.tasks.values()]
      .filter((task) => !hasEnded(task) && task.owner === by && task.until > at && isHeld(task, actor))
      // Includes what it took while its clock was wrong: it still works on that.
      .filter((task) => task.until - at < leaseMs * RENEWED_BELOW || isBeyondLeases(task, at))
      .map(({ id, epoch }) => ({ kind: 'changed', task: id, at, by, epoch, until: at + leaseMs }))
  )
}

type Hands = Pick<TaskChanged, 'epoch' | 'owner' | 'until' | 'state' | 'branch'>

/** Who has it then, and in which state; undefined if neither changes. */
function planHands(
  board: TaskBoard,
  task: Task,
  { state, owner }: TaskWish,
  actor: TaskActor,
): Hands | string | undefined {
  if (state === undefined && owner === undefined) return undefined
  if (hasEnded(task)) return planOpening(task, state, actor)
  if (state === 'completed') return planCompletion(board, task, actor)
  if (state === 'cancelled') return planCancellation(board, task, actor)
  if (owner === null || (state === 'pending' && owner === undefined)) return planReturn(task, actor)
  if (owner !== undefined && owner !== actor.self) return planAssignment(board, task, owner, actor)
  return planClaim(board, task, actor, owner !== undefined)
}

function planClaim(board: TaskBoard, task: Task, actor: TaskActor, isTakingAway: boolean): Hands | string {
  const { self: owner, now, leaseMs, branch } = actor
  const mayTakeAway = actor.isLeader && isTakingAway
  if (!isMine(task, actor) && !mayTakeAway) {
    const taken = whyTaken(board, task, actor)
    if (taken !== undefined) return taken
  }
  const blockers = blockersOf(board, task)
  if (blockers.length > 0) return `${whyBlocked(task, blockers)}; ${others(board, task, now)}`
  return { epoch: task.epoch + 1, owner, until: now + leaseMs, state: 'in_progress', branch }
}

function planCompletion(board: TaskBoard, task: Task, actor: TaskActor): Hands | string {
  const { self, now, branch } = actor
  if (isLost(task, actor))
    return `task ${task.id} was taken over by ${task.owner ?? 'somebody'} since you had it, so you cannot complete it. Add a note that says what you did; ${others(board, task, now)}`
  const taken = isMine(task, actor) ? undefined : whyTaken(board, task, actor)
  if (taken !== undefined) return taken
  const blockers = blockersOf(board, task)
  if (blockers.length > 0) return `${whyBlocked(task, blockers)}. Complete that first, or change blocked_by`
  return { epoch: task.epoch + 1, owner: self, until: now, state: 'completed', branch }
}

function planCancellation(board: TaskBoard, task: Task, actor: TaskActor): Hands | string {
  const taken = isMine(task, actor) || actor.isLeader ? undefined : whyTaken(board, task, actor)
  return taken ?? { epoch: task.epoch + 1, state: 'cancelled' }
}

function planReturn(task: Task, actor: TaskActor): Hands | string | undefined {
  const owner = ownerAt(task, actor.now)
  if (task.owner === undefined && task.state === 'pending') return undefined
  if (owner !== undefined && !isMine(task, actor) && !actor.isLeader)
    return `task ${task.id} is owned by ${owner}, and only ${owner} or the leader can release it`
  return { epoch: task.epoch + 1, owner: null, until: actor.now, state: 'pending' }
}

function planAssignment(board: TaskBoard, task: Task, owner: string, actor: TaskActor): Hands | string {
  const taken = isMine(task, actor) || actor.isLeader ? undefined : whyTaken(board, task, actor)
  if (taken !== undefined) return taken
  return { epoch: task.epoch + 1, owner, until: actor.now + actor.leaseMs, state: 'pending' }
}

function planOpening(task: Task, state: TaskState | undefined, actor: TaskActor): Hands | string {
  const by = task.owner === undefined ? '' : ` by ${task.owner}`
  if (state !== 'pending') return `task ${task.id} is ${task.state}${by}. To open it again, set it to pending`
  if (!actor.isLeader && task.owner !== actor.self)
    return `task ${task.id} is ${task.state}${by}. Only ${task.owner ?? 'its owner'} or the leader opens it again`
  return { epoch: task.epoch + 1, owner: null, until: actor.now, state: 'pending' }
}

/** This process has it, or an earlier one with the same name left it. */
function isMine(task: Task, actor: TaskActor): boolean {
  return task.owner === actor.self && !isLost(task, actor)
}

/** This process has it, or was given it and has not begun. */
function isHeld(task: Task, { epochOf }: TaskActor): boolean {
  return task.isGiven || epochOf(task.id) === task.epoch
}

/** This process had it, and since then it changed hands and nobody gave it back. */
function isLost(task: Task, { self, epochOf }: TaskActor): boolean {
  const known = epochOf(task.id)
  return known !== undefined && known !== task.epoch && !(task.isGiven && task.owner === self)
}

function whyTaken(board: TaskBoard, task: Task, { self, now }: TaskActor): string | undefined {
  const owner = ownerAt(task, now)
  if (owner === undefined) return undefined
  const who = owner === self ? `another process that is called ${self}` : owner
  return `task ${task.id} is owned by ${who} for ${leaseText(task.until - now)}; ${others(board, task, now)}`
}

function whyBlocked({ id }: Task, blockers: readonly number[]): string {
  return `task ${id} is blocked by ${numbersText(blockers)}`
}

/** What to take instead. */
function others(board: TaskBoard, task: Task, now: number): string {
  const free = freeTasks(board, now).filter(({ id }) => id !== task.id)
  if (free.length === 0) return 'no other task is free now'
  return `take another: ${numbersText(free.map(({ id }) => id))} ${free.length === 1 ? 'is' : 'are'} free`
}

const SHOWN_MAX = 10

export function numbersText(ids: readonly number[]): string {
  const shown = ids.slice(0, SHOWN_MAX).map(String)
  if (ids.length > SHOWN_MAX) return `${shown.join(', ')} and ${ids.length - SHOWN_MAX} more`
  const last = shown.pop() ?? ''
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`
}

const MINUTE_MS = 60_000

export function leaseText(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / MINUTE_MS))
  return minutes === 1 ? 'at most another minute' : `at most another ${minutes} minutes`
}

function whyNoNote(task: Task, note: string | undefined): string | undefined {
  if (note === undefined) return undefined
  if (note.length > NOTE_CHARS_MAX)
    return `the note has ${note.length} characters; at most ${NOTE_CHARS_MAX} are kept. Write the rest to a file and name it`
  const kept = task.notes.reduce((sum, { text }) => sum + text.length, 0)
  if (kept + note.length <= NOTES_CHARS_MAX) return undefined
  return `the notes of task ${task.id} have ${kept} characters already; at most ${NOTES_CHARS_MAX} are kept. Write to a file and name it in a message`
}

function whyNoOwner(owner: string | null | undefined): string | undefined {
  if (owner === undefined || owner === null || isAgentName(owner)) return undefined
  return `nobody can be called ${JSON.stringify(owner)}: names have letters, digits, - and _`
}

function whyNoBlockers(
  board: TaskBoard,
  task: Task,
  { blockedBy }: TaskWish,
  actor: TaskActor,
): string | undefined {
  if (blockedBy === undefined) return undefined
  if (hasEnded(task)) return `task ${task.id} is ${task.state}: nothing blocks it any more`
  const owner = ownerAt(task, actor.now)
  if (owner !== undefined && !isMine(task, actor) && !actor.isLeader)
    return `task ${task.id} is owned by ${owner}, who decides what blocks it. Send ${owner} a message`
  return whyNotBlocked(board, task.id, blockedBy)
}

function whyNotBlocked(board: TaskBoard, id: number, blockedBy: readonly number[]): string | undefined {
  if (blockedBy.length > BLOCKERS_MAX) return `a task is blocked by at most ${BLOCKERS_MAX} others`
  if (blockedBy.includes(id)) return `task ${id} cannot be blocked by itself`
  const missing = blockedBy.filter((one) => !board.tasks.has(one))
  if (missing.length > 0) return `there is no task ${numbersText(missing)}; ${rangeOf(board)}`
  const way = findWay(board, blockedBy, id)
  return (
    way &&
    `task ${id} cannot be blocked by ${way[0]}: ${way.map((one) => `${one} waits for`).join(' ')} ${id}`
  )
}

/** The path from one of these tasks, along what blocks it, to the target; undefined if there is none. */
function findWay(
  { tasks }: TaskBoard,
  from: readonly number[],
  target: number,
): readonly number[] | undefined {
  const seen = new Set<number>()
  const ways = from.map((id) => [id])
  for (let way = ways.pop(); way; way = ways.pop()) {
    const at = way.at(-1) ?? target
    if (at === target) return way.slice(0, -1)
    if (seen.has(at)) continue
    seen.add(at)
    for (const next of tasks.get(at)?.blockedBy ?? []) ways.push([...way, next])
  }
  return undefined
}

function rangeOf({ tasks }: TaskBoard): string {
  const ids = [...tasks.keys()]
  return ids.length === 0 ? 'the list is empty' : `there are ${numbersText(ids)}`
}
