import { blockersOf, freeTasks, hasEnded, ownerAt, type Task, type TaskBoard } from './fold-tasks.ts'
import { leaseText, numbersText } from './plan-task.ts'

// The list in words, for a model and for people. What agents wrote is never at the beginning of a line, where only the list itself speaks.

export interface TaskReader {
  readonly now: number
  /** The reader is shown as "you"; undefined for people. */
  readonly self?: string | undefined
}

/** How many are in which state, then one line for each. */
export function taskLines(board: TaskBoard, reader: TaskReader): readonly string[] {
  const tasks = [...board.tasks.values()]
  if (tasks.length === 0) return ['The list is empty.']
  return [sumText(board, reader.now), ...tasks.map((task) => taskLine(board, task, reader))]
}

function sumText(board: TaskBoard, now: number): string {
  const tasks = [...board.tasks.values()]
  const count = (state: Task['state']): number => tasks.filter((task) => task.state === state).length
  const taken = tasks.filter((task) => !hasEnded(task) && ownerAt(task, now) !== undefined).length
  const blocked = tasks.filter((task) => !hasEnded(task) && blockersOf(board, task).length > 0)
  const parts: readonly (readonly [number, string])[] = [
    [count('completed'), 'completed'],
    [count('cancelled'), 'cancelled'],
    [taken, 'taken'],
    [freeTasks(board, now).length, 'free'],
    [blocked.filter((task) => ownerAt(task, now) === undefined).length, 'blocked'],
  ]
  const told = parts.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`)
  return `${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}: ${told.join(', ')}.`
}

export function taskLine(board: TaskBoard, task: Task, reader: TaskReader): string {
  return `${task.id}. [${stateText(board, task, reader)}] ${oneLine(task.subject)}`
}

function stateText(board: TaskBoard, task: Task, { now, self }: TaskReader): string {
  const nameOf = (owner: string): string => (owner === self ? 'you' : owner)
  if (hasEnded(task)) return task.owner === undefined ? task.state : `${task.state} by ${nameOf(task.owner)}`
  const owner = ownerAt(task, now)
  const blockers = blockersOf(board, task)
  const waits = blockers.length === 0 ? '' : `blocked by ${numbersText(blockers)}`
  if (owner === undefined) return [waits || 'free', ...hadText(task)].join('; ')
  const what = task.state === 'pending' ? `given to ${nameOf(owner)}` : `in progress by ${nameOf(owner)}`
  const lease = owner === self ? '' : `, ${leaseText(task.until - now)}`
  return `${what}${lease}${waits && `; ${waits}`}`
}

/** Whose work may exist already. */
function hadText({ owner, branch, former }: Task): readonly string[] {
  const last = owner === undefined ? former.at(-1) : { owner, branch }
  if (!last) return []
  return [`${last.owner} had it${last.branch === undefined ? '' : `, on branch ${oneLine(last.branch)}`}`]
}

/** Everything that the one who takes it must know. */
export function taskText(task: Task): string {
  const notes = task.notes.map(({ by, text }) => `Note by ${by}:\n${indented(text)}`)
  const had = task.former.map(
    ({ owner, branch }) =>
      `${owner} had it before${branch === undefined ? '' : ` and worked on branch ${oneLine(branch)}`}.`,
  )
  const what = task.description === '' ? [] : [indented(task.description)]
  return [
    `Task ${task.id}, by ${task.createdBy}: ${oneLine(task.subject)}`,
    ...what,
    ...new Set(had),
    ...notes,
  ].join('\n')
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function indented(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => `  ${line}`)
    .join('\n')
}
