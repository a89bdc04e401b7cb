import { createTaskList, type Task } from 'palimpsest/agents'
import { openFileTaskLog } from 'palimpsest/node'

import type { HookCall, Hooks } from '../agent/hooks/create-hooks.ts'
import { toPrintable } from '../agent/printable.ts'
import type { Settings } from '../agent/settings/settings-shape.ts'
import type { TeamTasks } from '../agent/tools/team-task-tools.ts'
import type { World } from '../world.ts'
import type { Seated } from './open-seat.ts'

// The task list of a run's team, with the user's hooks around it. One per run: to the list, a second one would be another process.

export interface TeamWork extends TeamTasks {
  /** It has nothing left to do. Returns the objections of hooks; it continues with these. */
  readonly idle: (signal: AbortSignal) => Promise<readonly string[]>
}

interface TeamTasksSetup {
  readonly seated: Seated | undefined
  readonly hooks: Hooks
  readonly home: string
  readonly settings: Pick<Settings, 'team'>
}

const MINUTE_MS = 60_000

/** Undefined for a run without a team. */
export async function openTeamTasks(
  { seated, hooks, home, settings }: TeamTasksSetup,
  world: Pick<World, 'now' | 'printError'>,
): Promise<TeamWork | undefined> {
  if (!seated) return undefined
  const { team, self, leader, branch } = seated.seat
  const log = await openFileTaskLog({ home, team })
  const leaseMs = settings.team.taskLeaseMinutes * MINUTE_MS
  const report = (text: string): void => world.printError(`palimpsest: ${toPrintable(text)}\n`)
  const names = { teammate_name: self, team_name: team }
  const objections = async (
    call: Omit<HookCall, 'value'>,
    signal: AbortSignal,
  ): Promise<readonly string[]> => {
    const answers = await hooks.run({ ...call, value: self }, signal)
    for (const { notice } of answers) if (notice !== undefined) report(notice)
    return answers.flatMap(({ objection }) => objection ?? [])
  }
  return {
    list: createTaskList({ log, clock: world, self, isLeader: self === leader, leaseMs, branch }),
    self,
    leaseMs,
    now: world.now,
    members: seated.members,
    objections: async (event, task, signal) =>
      await objections({ event, input: { ...aboutTask(task), ...names } }, signal),
    idle: async (signal) => await objections({ event: 'TeammateIdle', input: names }, signal),
    report,
  }
}

function aboutTask({ id, subject, description }: Task): HookCall['input'] {
  return { task_id: String(id), task_subject: subject, task_description: description }
}
