import { freeTasks, hasEnded, ownerAt, type Task, type TaskBoard } from 'palimpsest/agents'
import { hasLettersFor, stateOf } from 'palimpsest/node'

import { isReady } from '../mates/next-step.ts'
import {
  readMember,
  workKey,
  type FinishedWork,
  type MemberRecord,
  type TeamMember,
  type TeamRecord,
} from '../team-record.ts'

// How a team stands, as its leader sees it: who is there, what is finished, and whether anything can still happen by itself.

export interface SeenMember {
  readonly member: TeamMember
  /** Undefined: it has not written one yet. */
  readonly record: MemberRecord | undefined
  /** `gone`: its process ended without a record of that. */
  readonly life: 'starting' | 'running' | 'ended' | 'gone'
  readonly hasMail: boolean
}

export interface SeenTeam {
  readonly members: readonly SeenMember[]
  readonly board: TaskBoard
}

export async function seeMembers(home: string, team: TeamRecord): Promise<readonly SeenMember[]> {
  return await Promise.all(
    team.members.map(async (member) => {
      const record = await readMember(home, team.name, member.name)
      const hasMail = await hasLettersFor({ home, team: team.name, self: member.name })
      return { member, record, life: await lifeOf(record), hasMail }
    }),
  )
}

async function lifeOf(record: MemberRecord | undefined): Promise<SeenMember['life']> {
  if (!record) return 'starting'
  const isGone = (await stateOf(record.process)) === 'gone'
  if (record.state === 'ended') return isGone ? 'ended' : 'running'
  return isGone ? 'gone' : 'running'
}

export interface UnsettledWork extends FinishedWork {
  readonly member: TeamMember
}

/** Finished work that is neither merged nor reported. */
export function unsettledWork(
  members: readonly SeenMember[],
  { settled }: Pick<TeamRecord, 'settled'>,
): readonly UnsettledWork[] {
  return members.flatMap(({ member, record }) =>
    (record?.finished ?? [])
      .filter((work) => !Object.hasOwn(settled, workKey(work)))
      .map((work): UnsettledWork => ({ ...work, member })),
  )
}

/** `done`: nothing is left to do. `still`: something is left, and no one will do it. */
export type TeamPace = 'moving' | 'done' | 'still'

/** `waiting`: work that the user's own files block. Without a screen there is no user to clear them away, so it is not awaited. */
export function paceOf(
  { members, board }: SeenTeam,
  team: TeamRecord,
  now: number,
  waiting: Pick<ReadonlyMap<string, unknown>, 'has'>,
): TeamPace {
  const isBusy = members.some(({ life, record, hasMail }) =>
    life === 'starting' || life === 'gone'
      ? true
      : life === 'running' && (record?.state === 'working' || hasMail),
  )
  const isAwaited = (work: UnsettledWork): boolean => team.hasScreen || !waiting.has(workKey(work))
  if (isBusy || unsettledWork(members, team).some(isAwaited)) return 'moving'
  const tasks = [...board.tasks.values()]
  if (tasks.every(hasEnded)) return isTold(tasks, members) ? 'done' : 'moving'
  const ready = new Set(
    members.flatMap(({ member, life, record }) =>
      life === 'running' && record?.state === 'idle' ? [member.name] : [],
    ),
  )
  const isTaken = (task: Task): boolean =>
    !hasEnded(task) && ready.has(ownerAt(task, now) ?? '') && isReady(task, board, team)
  const isFree = ready.size > 0 && freeTasks(board, now).some((task) => isReady(task, board, team))
  return isFree || tasks.some(isTaken) ? 'moving' : 'still'
}

/** Whether every member that completed a task has also recorded its work. */
function isTold(tasks: readonly Task[], members: readonly SeenMember[]): boolean {
  return tasks.every(({ id: task, epoch, owner, state }) => {
    const by = members.find(({ member }) => member.name === owner)
    if (state !== 'completed' || !by || by.life !== 'running') return true
    return by.record?.finished.some((work) => workKey(work) === workKey({ task, epoch })) ?? false
  })
}
