import { createMemoryTaskLog, createTaskList, type TaskList } from 'palimpsest/agents'
import { expect, test } from 'vitest'

import {
  IDLE_TURNS_MAX,
  LEADER_GONE_MS_MAX,
  nextStep,
  TURNS_MAX,
  type Moment,
  type Step,
} from './next-step.ts'
import { workKey } from '../team-record.ts'

const LEASE_MS = 60_000
const NOW = 1_000
const WORKTREE = { path: '/w', branch: 'b', base: 'c' }

/** Tasks 1 and 2, where 2 builds on 1. */
async function twoTasks(): Promise<{ readonly ada: TaskList; readonly ben: TaskList }> {
  const log = createMemoryTaskLog()
  const listOf = (self: string): TaskList =>
    createTaskList({ log, clock: { now: () => NOW }, self, isLeader: false, leaseMs: LEASE_MS })
  const ada = listOf('ada')
  await ada.create({ subject: 'First', description: '' })
  await ada.create({ subject: 'Second', description: '', blockedBy: [1] })
  return { ada, ben: listOf('ben') }
}

async function momentOf(list: TaskList, more: Partial<Moment> = {}): Promise<Moment> {
  const members = ['ada', 'ben'].map((name) => ({ name, cwd: '/w', worktree: WORKTREE }))
  return {
    self: 'ben',
    now: NOW,
    team: { state: 'working', members, settled: {} },
    leaderGoneAt: undefined,
    board: await list.board(),
    hasMail: false,
    idleTurns: 0,
    turns: 0,
    isDismissed: false,
    isPlanHandedIn: false,
    ...more,
  }
}

function short(step: Step): unknown {
  return step.kind === 'task' ? { task: step.task.id, isOwn: step.isOwn } : step
}

test('a teammate takes a free task, but its own tasks come first', async () => {
  const { ben } = await twoTasks()
  expect(short(nextStep(await momentOf(ben)))).toEqual({ task: 1, isOwn: false })
  await ben.update({ task: 1, state: 'in_progress' })
  expect(short(nextStep(await momentOf(ben)))).toEqual({ task: 1, isOwn: true })
  expect(nextStep(await momentOf(ben, { hasMail: true }))).toEqual({ kind: 'mail' })
})

test('a task that builds on another one waits until that is merged', async () => {
  const { ada, ben } = await twoTasks()
  await ada.update({ task: 1, state: 'in_progress' })
  const done = await ada.update({ task: 1, state: 'completed' })
  const epoch = done.ok ? done.task.epoch : 0
  const moment = await momentOf(ben)
  expect(nextStep(moment)).toEqual({ kind: 'wait' })
  const team = moment.team && {
    ...moment.team,
    settled: { [workKey({ task: 1, epoch })]: 'merged' as const },
  }
  expect(short(nextStep({ ...moment, team }))).toEqual({ task: 2, isOwn: false })
})

test('without a leader, a teammate starts nothing new, and leaves after a while', async () => {
  const { ada, ben } = await twoTasks()
  expect(nextStep(await momentOf(ben, { leaderGoneAt: NOW }))).toEqual({ kind: 'wait' })
  await ada.update({ task: 1, owner: 'ben' })
  expect(nextStep(await momentOf(ben, { leaderGoneAt: NOW }))).toEqual({ kind: 'wait' })
  await ben.update({ task: 1, state: 'in_progress' })
  expect(short(nextStep(await momentOf(ben, { leaderGoneAt: NOW })))).toEqual({ task: 1, isOwn: true })
  const later = await momentOf(ben, { leaderGoneAt: NOW, now: NOW + LEADER_GONE_MS_MAX + 1 })
  expect(nextStep(later)).toEqual({ kind: 'end', why: 'the leader is gone' })
})

test('a teammate that makes no progress stops, and mail wakes it again', async () => {
  const { ben } = await twoTasks()
  const stuck = await momentOf(ben, { idleTurns: IDLE_TURNS_MAX })
  expect(nextStep(stuck).kind).toBe('stuck')
  expect(nextStep({ ...stuck, hasMail: true }).kind).toBe('mail')
  expect(nextStep({ ...stuck, hasMail: true, turns: TURNS_MAX }).kind).toBe('stuck')
})

test('a teammate leaves a team that ends, or is gone', async () => {
  const { ben } = await twoTasks()
  const moment = await momentOf(ben, { hasMail: true })
  const ending = moment.team && { ...moment.team, state: 'ending' as const }
  expect(nextStep({ ...moment, team: ending })).toEqual({ kind: 'end', why: 'the team has ended' })
  expect(nextStep({ ...moment, team: undefined })).toEqual({ kind: 'end', why: 'the team is gone' })
})

test('a teammate that submitted a plan keeps its task and takes no turn for it until plan mode is over, but reads mail', async () => {
  const { ben } = await twoTasks()
  await ben.update({ task: 1, state: 'in_progress' })
  const planned = await momentOf(ben, { isPlanHandedIn: true, idleTurns: 1 })
  expect(nextStep(planned)).toEqual({ kind: 'planned' })
  expect(nextStep({ ...planned, hasMail: true })).toEqual({ kind: 'mail' })
  expect(short(nextStep({ ...planned, isPlanHandedIn: false }))).toEqual({ task: 1, isOwn: true })
})
