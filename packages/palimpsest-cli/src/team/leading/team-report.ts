import type { Task } from 'palimpsest/agents'
import type { Conversation } from 'palimpsest/conversation'
import { servedTokens } from 'palimpsest/wire'

import { toPrintable } from '../../agent/printable.ts'
import type { EndedTeam } from './end-team.ts'
import { unsettledWork } from './look-around.ts'
import type { Steward } from './steward.ts'
import { LEADER } from '../seat.ts'
import { workKey, type MemberSpent } from '../team-record.ts'

// What a team did, who did it, and what it cost.

export interface TeamReport {
  readonly name: string
  readonly tasks: readonly ReportedTask[]
  readonly members: readonly ReportedMember[]
  readonly total: MemberSpent
  /** Worktrees that hold work, one sentence each. */
  readonly kept: readonly string[]
}

interface ReportedTask {
  readonly id: number
  readonly subject: string
  readonly state: Task['state']
  readonly owner: string | undefined
  /** What became of its work. */
  readonly merge: string | undefined
}

interface ReportedMember extends MemberSpent {
  readonly name: string
  readonly sessionId: string
  readonly completed: readonly number[]
}

export function reportOf(steward: Steward, { look, kept }: EndedTeam, leader: MemberSpent): TeamReport {
  const { name, leaderSession, settled } = steward.team()
  const waiting = new Set(unsettledWork(look.members, { settled }).map(workKey))
  const tasks = [...look.board.tasks.values()].map(({ id, epoch, subject, state, owner }) => {
    const key = workKey({ task: id, epoch })
    return { id, subject, state, owner, merge: waiting.has(key) ? 'waiting' : settled[key] }
  })
  const doneBy = (name: string): readonly number[] =>
    tasks.filter(({ owner, state }) => owner === name && state === 'completed').map(({ id }) => id)
  const members = [
    { name: LEADER, sessionId: leaderSession, completed: doneBy(LEADER), ...leader },
    ...look.members.flatMap(({ record }) =>
      record
        ? [
            {
              name: record.name,
              sessionId: record.sessionId,
              completed: doneBy(record.name),
              ...record.spent,
            },
          ]
        : [],
    ),
  ]
  return { name, tasks, members, total: members.reduce(add, NONE), kept }
}

/** What a conversation has spent, as far as it is loaded. Entries of one response repeat its usage, so each response counts once. */
export function spentIn({ totals, log }: Pick<Conversation, 'totals' | 'log'>): MemberSpent {
  const { promptTokens, readTokens: cachedTokens, costUsd } = totals()
  const outputs = new Map(
    log().flatMap((entry) =>
      entry.kind === 'message' && entry.usage
        ? [[entry.responseId ?? entry.id, servedTokens(entry.usage).output] as const]
        : [],
    ),
  )
  const outputTokens = [...outputs.values()].reduce((sum, tokens) => sum + tokens, 0)
  return { promptTokens, cachedTokens, outputTokens, costUsd }
}

const NONE: MemberSpent = { promptTokens: 0, cachedTokens: 0, outputTokens: 0, costUsd: 0 }

function add(sum: MemberSpent, one: MemberSpent): MemberSpent {
  return {
    promptTokens: sum.promptTokens + one.promptTokens,
    cachedTokens: sum.cachedTokens + one.cachedTokens,
    outputTokens: sum.outputTokens + one.outputTokens,
    costUsd: sum.costUsd + one.costUsd,
  }
}

/** Whether all planned work is done, and merged here. */
export function isWhole({ tasks }: TeamReport): boolean {
  return tasks.every(
    ({ state, merge }) =>
      state === 'cancelled' ||
      (state === 'completed' && (merge === undefined || merge === 'merged' || merge === 'nothing')),
  )
}

export function reportLines({ name, tasks, members, total, kept }: TeamReport): readonly string[] {
  const done = tasks.filter(({ state }) => state === 'completed').length
  const rows = [...members, { ...total, name: 'together', completed: [] }]
  const width = Math.max(...rows.map((row) => row.name.length))
  return [
    `Team ${name}: ${done} of ${tasks.length} tasks completed`,
    ...tasks.map((task) => toPrintable(taskRow(task))),
    ...rows.map(
      (row) =>
        `  ${row.name.padEnd(width)}  ${count(row.promptTokens)} tokens in (${count(row.cachedTokens)} cached), ${count(row.outputTokens)} out, $${row.costUsd.toFixed(4)}`,
    ),
    ...kept,
  ]
}

const MERGE_WORDS: { readonly [outcome: string]: string } = {
  merged: ', merged',
  nothing: ', nothing to merge',
  conflict: ', not merged: conflict',
  waiting: ', not merged: uncommitted changes in the way',
  failed: ', not merged',
}

function taskRow({ id, subject, state, owner, merge }: ReportedTask): string {
  const by = owner === undefined ? '' : ` by ${owner}`
  return `  ${id}  ${subject}: ${state.replace('_', ' ')}${by}${MERGE_WORDS[merge ?? ''] ?? ''}`
}

function count(tokens: number): string {
  return tokens.toLocaleString('en')
}

/** The report as part of the result of `--output-format json`. */
export function reportDocument({ name, tasks, members, total, kept }: TeamReport): object {
  return {
    name,
    tasks: tasks.map(({ id, subject, state, owner, merge }) => ({
      id,
      subject,
      state,
      owner: owner ?? null,
      merge: merge ?? null,
    })),
    members: members.map(({ name: who, sessionId, completed, ...spent }) => ({
      name: who,
      session_id: sessionId,
      completed,
      ...spentDocument(spent),
    })),
    total: spentDocument(total),
    kept,
  }
}

function spentDocument({ promptTokens, cachedTokens, outputTokens, costUsd }: MemberSpent): object {
  return {
    input_tokens: promptTokens,
    cached_input_tokens: cachedTokens,
    output_tokens: outputTokens,
    cost_usd: costUsd,
  }
}
