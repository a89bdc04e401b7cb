import type { TaskList } from 'palimpsest/agents'

import type { ChildEnvironment } from '../../agent/process/child-environment.ts'
import { createQueue } from '../../agent/permissions/create-permit.ts'
import type { PermissionMode } from '../../agent/permissions/permission-mode.ts'
import type { World } from '../../world.ts'
import { findGitUser, mergeWork } from '../branch-work.ts'
import {
  paceOf,
  seeMembers,
  unsettledWork,
  type SeenMember,
  type SeenTeam,
  type TeamPace,
  type UnsettledWork,
} from './look-around.ts'
import { startMember, type StartedMember } from './start-members.ts'
import { outputPath, workKey, writeTeam, type MergeOutcome, type TeamRecord } from '../team-record.ts'
import { mergeText } from '../team-texts.ts'

// What the leader's process does for a team without its model: it merges finished work, starts again who died, and knows what there is to
// tell. It alone writes the team's file.

export interface Steward {
  readonly home: string
  readonly team: () => TeamRecord
  readonly git: ChildEnvironment
  readonly tasks: TaskList
  /** One look, with all that is to be done then. */
  readonly look: () => Promise<TeamLook>
  readonly change: (more: Partial<TeamRecord>) => Promise<void>
}

export interface TeamLook extends SeenTeam {
  readonly pace: TeamPace
  readonly news: readonly News[]
}

/** `isUrgent`: the leader should act on it; the rest can wait until something else is said. */
export interface News {
  readonly text: string
  readonly isUrgent: boolean
}

export interface StewardSetup {
  readonly home: string
  readonly team: TeamRecord
  readonly tasks: TaskList
  readonly mode: () => PermissionMode
  readonly git: ChildEnvironment
  /** Those that this process started. */
  readonly started: Map<string, StartedMember>
}

/** Who dies more often than this does not come to anything. */
const RESTARTS_MAX = 2

/** Git is asked a dozen times for one try, and a team that ends is looked at ten times a second. */
const TRIED_AGAIN_MS = 1_500

interface State extends StewardSetup {
  team: TeamRecord
  readonly restarts: Map<string, number>
  /** Work that something stands in the way of, and that was told of: when it was last tried. */
  readonly waiting: Map<string, number>
  /** Who left, and was told of. */
  readonly left: Set<string>
  readonly world: World
}

export function createSteward(setup: StewardSetup, world: World): Steward {
  const inLine = createQueue()
  const state: State = { ...setup, restarts: new Map(), waiting: new Map(), left: new Set(), world }
  return {
    home: setup.home,
    tasks: setup.tasks,
    git: setup.git,
    team: () => state.team,
    look: async () => await inLine(async () => await look(state)),
    change: async (more) => await change(state, more),
  }
}

async function change(state: State, more: Partial<TeamRecord>): Promise<void> {
  state.team = { ...state.team, ...more }
  await writeTeam(state.home, state.team)
}

async function look(state: State): Promise<TeamLook> {
  const { home, tasks, world } = state
  if (state.mode() !== state.team.mode) await change(state, { mode: state.mode() })
  const found = await seeMembers(home, state.team)
  const board = await tasks.board()
  const news: News[] = []
  for (const work of unsettledWork(found, state.team)) news.push(...(await settle(state, work)))
  const members: SeenMember[] = []
  for (const seen of found) members.push(await revive(state, seen, news))
  news.push(...departures(state, members))
  return { members, board, news, pace: paceOf({ members, board }, state.team, world.now(), state.waiting) }
}

async function settle(state: State, work: UnsettledWork): Promise<readonly News[]> {
  const { team, git, waiting } = state
  const key = workKey(work)
  const { member, task, subject, commit, problem } = work
  const note = async (outcome: MergeOutcome): Promise<void> =>
    await change(state, { settled: { ...state.team.settled, [key]: outcome } })
  const { branch = '' } = member.worktree ?? {}
  const about = { task, subject, by: member.name, branch }
  if (problem !== undefined) {
    await note('failed')
    return [{ text: mergeText({ kind: 'failed', why: problem }, about), isUrgent: true }]
  }
  if (!member.worktree || commit === undefined) {
    await note('nothing')
    return []
  }
  const triedAt = waiting.get(key)
  if (triedAt !== undefined && performance.now() - triedAt < TRIED_AGAIN_MS) return []
  const user = await findGitUser(team.cwd, git)
  const wish = { commit, branch, subject: `Merge task ${task} by ${member.name}: ${subject}` }
  const outcome = await mergeWork(team.cwd, wish, user, git)
  const text = mergeText(outcome, about)
  if (outcome.kind === 'in-the-way') {
    // It is tried again every now and then, and told once.
    waiting.set(key, performance.now())
    return triedAt === undefined ? [{ text, isUrgent: true }] : []
  }
  await note(outcome.kind)
  return [{ text, isUrgent: outcome.kind === 'conflict' || outcome.kind === 'failed' }]
}

/** Who died is started again; who did so too often counts as having left. */
async function revive(state: State, seen: SeenMember, news: News[]): Promise<SeenMember> {
  const { home, team, started, restarts, world } = state
  const { name } = seen.member
  const own = started.get(name)
  if (seen.life !== 'gone' && seen.life !== 'starting') return seen
  // What it said was said by the one before.
  if (own?.hasEnded() === false) return { ...seen, life: 'starting' }
  const count = restarts.get(name) ?? 0
  if (team.state !== 'working' || count > RESTARTS_MAX) return { ...seen, life: 'ended' }
  restarts.set(name, count + 1)
  if (count === RESTARTS_MAX) {
    const why = `${name} died again and again, and is not started any more. What it printed: ${outputPath(home, team.name, name)}`
    news.push({ text: why, isUrgent: true })
    return { ...seen, life: 'ended' }
  }
  started.set(name, await startMember(seen.member, team, home, world))
  news.push({ text: `${name} died and was started again, with all it had said.`, isUrgent: false })
  return { ...seen, life: 'starting' }
}

function departures({ team, left }: State, members: readonly SeenMember[]): readonly News[] {
  if (team.state !== 'working') return []
  const gone = members.filter(({ life, member }) => life === 'ended' && !left.has(member.name))
  return gone.map(({ member, record }) => {
    left.add(member.name)
    return { text: `${member.name} has left: ${record?.doing ?? 'nobody knows why'}.`, isUrgent: false }
  })
}
