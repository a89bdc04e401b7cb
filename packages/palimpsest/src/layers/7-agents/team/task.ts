import { isJsonObject } from '../../../wire/json.ts'
import { isAgentName } from '../mail/letter.ts'

// The tasks of a team, as events: each says who changed what, and when. Whatever comes from a disk is parsed here, and is only data until
// it has this form.

export const TASK_STATES = ['pending', 'in_progress', 'completed', 'cancelled'] as const
export type TaskState = (typeof TASK_STATES)[number]

interface EventBase {
  /** Number of the task: 1, 2, 3, … */
  readonly task: number
  /** Milliseconds since 1970, by the clock of whoever did it. */
  readonly at: number
  readonly by: string
}

export interface TaskCreated extends EventBase {
  readonly kind: 'created'
  readonly subject: string
  readonly description: string
  readonly blockedBy: readonly number[]
  /** Who it is for from the start, and until when nobody else may take it. */
  readonly owner?: string | undefined
  readonly until?: number | undefined
}

export interface TaskChanged extends EventBase {
  readonly kind: 'changed'
  /** Counts the owners. What was decided under an older number does not count. */
  readonly epoch: number
  /** Null: nobody. */
  readonly owner?: string | null | undefined
  /** End of the lease: then the task is free again, unless its owner has extended it. */
  readonly until?: number | undefined
  readonly state?: TaskState | undefined
  readonly note?: string | undefined
  readonly blockedBy?: readonly number[] | undefined
  /** Where the owner's work is. */
  readonly branch?: string | undefined
}

export type TaskEvent = TaskCreated | TaskChanged

/** Nobody goes through a longer list. */
export const TASKS_MAX = 500
/** Far above any number that a list reaches. */
export const TASK_ID_MAX = 1_000_000
export const SUBJECT_CHARS_MAX = 200
export const DESCRIPTION_CHARS_MAX = 10_000
export const NOTE_CHARS_MAX = 4_000
/** For one task, all notes together: the list is read whole with every change. */
export const NOTES_CHARS_MAX = 20_000
export const BLOCKERS_MAX = 50
const BRANCH_CHARS_MAX = 250

/** The event, or what is wrong with it, as part of a sentence. */
export function parseTaskEvent(value: unknown): TaskEvent | string {
  if (!isJsonObject(value)) return 'it is no JSON object'
  const { kind, task, at, by } = value
  if (!isTaskId(task)) return 'it does not say which task it is about'
  if (typeof at !== 'number' || !Number.isFinite(at)) return 'it does not say when it happened'
  if (typeof by !== 'string' || !isAgentName(by)) return 'it does not say who did it'
  if (kind === 'created') return parseCreated(value, { task, at, by })
  if (kind === 'changed') return parseChanged(value, { task, at, by })
  return 'it is of no known kind'
}

function parseCreated(value: Fields, base: EventBase): TaskCreated | string {
  const { subject, description, blockedBy } = value
  if (typeof subject !== 'string' || typeof description !== 'string') return 'it does not say what to do'
  if (subject.length > SUBJECT_CHARS_MAX || description.length > DESCRIPTION_CHARS_MAX)
    return 'it is longer than any task'
  if (!isTaskIds(blockedBy)) return 'what blocks it is no list of tasks'
  const hands = parseHands(value)
  if (typeof hands === 'string') return hands
  const { owner, until } = hands
  if (owner === null) return 'its owner has no valid name'
  return { kind: 'created', ...base, subject, description, blockedBy, owner, until }
}

function parseChanged(value: Fields, base: EventBase): TaskChanged | string {
  const { epoch, note, blockedBy, branch } = value
  if (typeof epoch !== 'number' || !Number.isSafeInteger(epoch) || epoch < 0) return 'it has no epoch'
  const hands = parseHands(value)
  if (typeof hands === 'string') return hands
  const state = TASK_STATES.find((known) => known === value['state'])
  if (state === undefined && value['state'] !== undefined) return 'its state is not known'
  if (note !== undefined && !isTextOf(note, NOTE_CHARS_MAX)) return 'its note is no text, or too long'
  if (branch !== undefined && !isTextOf(branch, BRANCH_CHARS_MAX)) return 'its branch has no valid name'
  if (blockedBy !== undefined && !isTaskIds(blockedBy)) return 'what blocks it is no list of tasks'
  return { kind: 'changed', ...base, epoch, ...hands, state, note, blockedBy, branch }
}

function parseHands({ owner, until }: Fields): Pick<TaskChanged, 'owner' | 'until'> | string {
  if (owner !== undefined && owner !== null && !(typeof owner === 'string' && isAgentName(owner)))
    return 'its owner has no valid name'
  if (until !== undefined && (typeof until !== 'number' || !Number.isFinite(until)))
    return 'its lease has no valid end'
  return { owner, until }
}

interface Fields {
  readonly [name: string]: unknown
}

function isTextOf(value: unknown, charsMax: number): value is string {
  return typeof value === 'string' && value.length <= charsMax
}

function isTaskId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= TASK_ID_MAX
}

function isTaskIds(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length <= BLOCKERS_MAX && value.every(isTaskId)
}
