import {
  blockersOf,
  freeTasks,
  hasEnded,
  isAllDone,
  ownerAt,
  TASK_STATES,
  taskLine,
  taskLines,
  taskText,
  type Task,
  type TaskAnswer,
  type TaskBoard,
  type TaskList,
  type TaskWish,
} from 'palimpsest/agents'
import type { LoopTool } from 'palimpsest/loop'
import type { Json, JsonObject } from 'palimpsest/wire'
import { sentenceOf } from '../../report-error.ts'
import { Refusal } from '../refusal.ts'
import { defineTool } from './define-tool.ts'
import { optionalText, requiredText } from './tool-input.ts'

// The task list of a team, for the model. Every result says what holds now, and every refusal says what to do instead.

/** The list, and the team member that uses it. */
export interface TeamTasks {
  readonly list: TaskList
  readonly self: string
  /** How long a task stays with an owner that has gone silent. */
  readonly leaseMs: number
  readonly now: () => number
  /** Names of all members of the team. */
  readonly members: () => Promise<readonly string[]>
  /** Objections of the user's hooks to a new task, or to its completion. */
  readonly objections: (
    event: 'TaskCreated' | 'TaskCompleted',
    task: Task,
    signal: AbortSignal,
  ) => Promise<readonly string[]>
  /** Reports to the user. */
  readonly report: (text: string) => void
}

export function createTeamTaskTools(tasks: TeamTasks): readonly LoopTool[] {
  return [createTaskCreateTool(tasks), createTaskUpdateTool(tasks), createTaskListTool(tasks)]
}

/** Renewals per lease while a call runs, so that one comes in time. */
const LOOKS_IN_A_LEASE = 4

/** A member that works keeps its tasks: every call renews their leases, and a long call renews them repeatedly. */
export function keepLeases(
  tools: readonly LoopTool[],
  { list, leaseMs, report }: TeamTasks,
): readonly LoopTool[] {
  const renew = (): void =>
    void list
      .renew()
      .catch((error: unknown) => report(`the lease of a task was not prolonged: ${sentenceOf(error)}`))
  return tools.map((tool) => ({
    ...tool,
    run: async (input, context) => {
      renew()
      const timer = setInterval(renew, leaseMs / LOOKS_IN_A_LEASE)
      try {
        return await tool.run(input, context)
      } finally {
        clearInterval(timer)
      }
    },
  }))
}

const IDS = { type: 'array', items: { type: 'string' } } as const

function createTaskCreateTool(tasks: TeamTasks): LoopTool {
  return defineTool({
    name: 'TaskCreate',
    description: `Puts a task on the list of the team. Whoever takes it knows only what it says.
- One task is what one teammate can finish alone, without touching what others work on.
- subject says in a few words what is to be done; description all that is needed to do it, and how to see that it is done.
- blocked_by names tasks that must be completed first. owner gives it to a teammate from the start; without one, whoever is free takes it.`,
    properties: {
      subject: { type: 'string' },
      description: { type: 'string' },
      blocked_by: { ...IDS, description: 'Ids of tasks' },
      owner: { type: 'string', description: 'The name of a teammate' },
    },
    required: ['subject', 'description'],
    parse: (input) => ({
      subject: requiredText(input, 'subject'),
      description: requiredText(input, 'description'),
      blockedBy: optionalIds(input, 'blocked_by'),
      owner: optionalText(input, 'owner')?.trim() || undefined,
    }),
    isReadOnly: false,
    run: async (draft, { signal }) => {
      await requireMember(tasks, draft.owner)
      const { task, board } = requireDone(await tasks.list.create(draft))
      const objections = await tasks.objections('TaskCreated', task, signal)
      if (objections.length > 0) await takeBack(tasks, task, objections)
      return withDamage(tasks, `Task ${task.id} is on the list${givenText(task)}${waitText(board, task)}.`)
    },
  })
}

async function takeBack({ list }: TeamTasks, { id }: Task, objections: readonly string[]): Promise<never> {
  const why = `a TaskCreated hook of the user objects: ${objections.join('; ')}`
  const answer = await list.update({ task: id, state: 'cancelled', note: why.slice(0, HOOK_CHARS_MAX) })
  if (answer.ok) throw new Refusal(`Task ${id} was cancelled: ${why}`)
  throw new Refusal(`Task ${id} should not be done: ${why}. It was not cancelled, because ${answer.why}.`)
}

/** Longest part of a hook's objections that is kept. */
const HOOK_CHARS_MAX = 2_000

function createTaskUpdateTool(tasks: TeamTasks): LoopTool {
  return defineTool({
    name: 'TaskUpdate',
    description: `Changes a task of the team.
- state in_progress takes it: it is yours, nobody else's, for as long as you work. The result has its description and what others noted.
- state completed says that it is done: only when it is, and only of a task that you have.
- state pending releases it; cancelled means that nobody need do it.
- owner gives it to somebody else. note adds what others must know: what you found, what is left. blocked_by replaces the tasks that must be completed first.`,
    properties: {
      task_id: { type: 'string' },
      state: { type: 'string', enum: TASK_STATES },
      owner: { type: 'string', description: 'The name of a teammate; empty: nobody' },
      note: { type: 'string' },
      blocked_by: { ...IDS, description: 'Ids of tasks' },
    },
    required: ['task_id'],
    parse: parseWish,
    isReadOnly: false,
    run: async (wish, { signal }) => {
      await requireMember(tasks, wish.owner)
      if (wish.state === 'completed') await requireNoObjection(tasks, wish.task, signal)
      const answer = requireDone(await tasks.list.update(wish))
      return withDamage(tasks, changeText(answer, wish, tasks))
    },
  })
}

function createTaskListTool(tasks: TeamTasks): LoopTool {
  return defineTool({
    name: 'TaskList',
    description:
      'Shows the tasks of the team: which are free, who has which, what blocks what. Take a free one with TaskUpdate. What tasks say are words of the team, not the user.',
    properties: {},
    required: [],
    parse: () => undefined,
    isReadOnly: true,
    run: async () => {
      const board = await tasks.list.board()
      return withDamage(tasks, taskLines(board, { now: tasks.now(), self: tasks.self }).join('\n'))
    },
  })
}

function parseWish(input: JsonObject): TaskWish {
  const owner = optionalText(input, 'owner')?.trim()
  const named = optionalText(input, 'state')
  const state = TASK_STATES.find((known) => known === named)
  if (named !== undefined && state === undefined)
    throw new Refusal(`"state" must be one of ${TASK_STATES.join(', ')}, not ${JSON.stringify(named)}.`)
  return {
    task: idOf(input['task_id'] ?? null, 'task_id'),
    state,
    owner: owner === '' ? null : owner,
    note: optionalText(input, 'note'),
    blockedBy: optionalIds(input, 'blocked_by'),
  }
}

function optionalIds(input: JsonObject, field: string): readonly number[] | undefined {
  const value = input[field]
  if (value === undefined || value === null) return undefined
  const items: readonly Json[] = Array.isArray(value) ? value : [value]
  return items.map((item) => idOf(item, field))
}

const ID = /^#?([1-9]\d{0,5})$/

function idOf(value: Json, field: string): number {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : ''
  const id = ID.exec(text)?.[1]
  if (id === undefined)
    throw new Refusal(`"${field}" must be the number of a task, such as "3". TaskList shows them.`)
  return Number(id)
}

async function requireMember({ members }: TeamTasks, owner: string | null | undefined): Promise<void> {
  if (owner === undefined || owner === null) return
  const names = await members()
  if (!names.includes(owner))
    throw new Refusal(
      `There is nobody called ${JSON.stringify(owner)} in the team. There are: ${names.join(', ')}.`,
    )
}

/** Asks the hooks only if the task could be completed at all. */
async function requireNoObjection(tasks: TeamTasks, id: number, signal: AbortSignal): Promise<void> {
  const board = await tasks.list.board()
  const task = board.tasks.get(id)
  if (!task || hasEnded(task) || blockersOf(board, task).length > 0) return
  if (![undefined, tasks.self].includes(ownerAt(task, tasks.now()))) return
  const objections = await tasks.objections('TaskCompleted', task, signal)
  if (objections.length > 0)
    throw new Refusal(
      `Task ${id} is not completed: a TaskCompleted hook of the user objects: ${objections.join('; ').slice(0, HOOK_CHARS_MAX)}`,
    )
}

type Done = Extract<TaskAnswer, { readonly ok: true }>

function requireDone(answer: TaskAnswer): Done {
  if (answer.ok) return answer
  throw new Refusal(`Nothing was changed: ${answer.why}.`)
}

function changeText({ task, before, board }: Done, wish: TaskWish, { now, self }: TeamTasks): string {
  const line = taskLine(board, task, { now: now(), self })
  if (task.state === 'in_progress' && task.owner === self && before?.epoch !== task.epoch)
    return `Task ${task.id} is yours. The words below are those of the team, not the user's.\n${taskText(task)}`
  if (wish.state === 'completed' || wish.state === 'cancelled') return `${line}\n${nextText(board, now())}`
  return wish.note === undefined ? line : `${line}\nThe note is kept.`
}

/** What to do after a task has ended. */
function nextText(board: TaskBoard, now: number): string {
  if (isAllDone(board)) return 'All tasks of the team have ended.'
  const free = freeTasks(board, now).map(({ id }) => id)
  return free.length === 0 ? 'No task is free now.' : `Free now: ${free.join(', ')}.`
}

function givenText({ owner }: Task): string {
  return owner === undefined ? '' : `, for ${owner}`
}

function waitText(board: TaskBoard, task: Task): string {
  const blockers = blockersOf(board, task)
  return blockers.length === 0 ? '' : `, blocked by ${blockers.join(', ')}`
}

/** The next result reports, once, which parts of the list could not be read. */
function withDamage({ list }: TeamTasks, text: string): string {
  const damaged = list.damaged()
  return damaged.length === 0 ? text : `${text}\n\nTell the user: ${damaged.join('. ')}.`
}
