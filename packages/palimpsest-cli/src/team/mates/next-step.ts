import { blockersOf, freeTasks, hasEnded, ownerAt, type Task, type TaskBoard } from 'palimpsest/agents'

import { workKey, type TeamRecord } from '../team-record.ts'

// Decides what a teammate does next from what it sees. Everything that repeats has a bound here.

export interface Moment {
  readonly self: string
  readonly now: number
  readonly team: Pick<TeamRecord, 'state' | 'members' | 'settled'> | undefined
  /** Since when the leader's process is gone; undefined while it runs. */
  readonly leaderGoneAt: number | undefined
  readonly board: TaskBoard
  readonly hasMail: boolean
  /** Number of turns in a row that changed nothing. */
  readonly idleTurns: number
  readonly turns: number
  /** The leader has its plan, and plan mode still holds. */
  readonly isPlanHandedIn: boolean
  /** It has agreed to a request to leave. */
  readonly isDismissed: boolean
}

export type Step =
  | { readonly kind: 'end'; readonly why: string }
  | { readonly kind: 'mail' }
  /** The task is already its own, or free. */
  | { readonly kind: 'task'; readonly task: Task; readonly isOwn: boolean }
  /** It gives up its tasks, and takes no new ones by itself. */
  | { readonly kind: 'stuck'; readonly why: string }
  /** It keeps its tasks, and waits for the leader or for the end of plan mode. */
  | { readonly kind: 'planned' }
  | { readonly kind: 'wait' }

/** If a killed leader is not resumed within this time, its teammates leave. */
export const LEADER_GONE_MS_MAX = 15 * 60_000
/** More turns without a change would only cost money. */
export const IDLE_TURNS_MAX = 3
/** Bound on the turns of one teammate, whatever wakes it: two that write to each other without end stop here. */
export const TURNS_MAX = 200

export function nextStep(moment: Moment): Step {
  const { now, team, leaderGoneAt, idleTurns, turns } = moment
  if (moment.isDismissed) return { kind: 'end', why: 'asked to leave' }
  if (!team) return { kind: 'end', why: 'the team is gone' }
  if (team.state !== 'working') return { kind: 'end', why: 'the team has ended' }
  if (leaderGoneAt !== undefined && now - leaderGoneAt > LEADER_GONE_MS_MAX)
    return { kind: 'end', why: 'the leader is gone' }
  if (turns >= TURNS_MAX) return { kind: 'stuck', why: `it has taken ${TURNS_MAX} turns` }
  if (moment.hasMail) return { kind: 'mail' }
  if (moment.isPlanHandedIn) return { kind: 'planned' }
  if (idleTurns >= IDLE_TURNS_MAX)
    return { kind: 'stuck', why: `${IDLE_TURNS_MAX} turns in a row changed nothing` }
  const own = ownTask(moment)
  if (own) return { kind: 'task', task: own, isOwn: true }
  // Without a leader no one would merge it.
  const free =
    leaderGoneAt === undefined
      ? freeTasks(moment.board, now).find((task) => isReady(task, moment.board, team))
      : undefined
  return free ? { kind: 'task', task: free, isOwn: false } : { kind: 'wait' }
}

function ownTask({ board, self, now, team, leaderGoneAt }: Moment): Task | undefined {
  const own = [...board.tasks.values()].filter(
    (task) =>
      !hasEnded(task) &&
      ownerAt(task, now) === self &&
      blockersOf(board, task).length === 0 &&
      isReady(task, board, team),
  )
  // A task that it was given and has not begun waits for a leader.
  return own.find(({ state }) => state === 'in_progress') ?? (leaderGoneAt === undefined ? own[0] : undefined)
}

/** A task it builds on must be merged, not only done; otherwise it would begin without that work. */
export function isReady(
  { blockedBy }: Task,
  { tasks }: TaskBoard,
  team: Pick<TeamRecord, 'members' | 'settled'> | undefined,
): boolean {
  const apart = new Set(team?.members.flatMap(({ name, worktree }) => (worktree ? [name] : [])))
  return blockedBy.every((id) => {
    const blocker = tasks.get(id)
    if (!blocker || blocker.state !== 'completed' || !apart.has(blocker.owner ?? '')) return true
    return !team || Object.hasOwn(team.settled, workKey({ task: id, epoch: blocker.epoch }))
  })
}
