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

// What the leader's process does for a team without a model: it merges finished work, restarts members that died, and collects the news.
// Only it writes the team's file.

export interface Steward {
  readonly home: string
  readonly team: () => TeamRecord
  readonly git: ChildEnvironment
  readonly tasks: TaskList
  /** Looks once, and does everything that is due. */
  readonly look: () => Promise<TeamLook>
  readonly change: (more: Partial<TeamRecord>) => Promise<void>
}

export interface TeamLook extends SeenTeam {
  readonly pace: TeamPace
  readonly news: readonly News[]
}

/** `isUrgent`: the leader should act on it; other news can wait for the next message. */
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
  /** Members that this process started. */
  readonly started: Map<string, StartedMember>
}

/** A member that dies more often than this is not started again. */
const RESTARTS_MAX = 2

/** Wait between two merge attempts. One attempt calls git a dozen times, and an ending team is checked ten times a second. */
const TRIED_AGAIN_MS = 1_500

interface State extends StewardSetup {
  team: TeamRecord
  readonly restarts: Map<string, number>
  /** Blocked work that was reported, with the time of the last attempt. */
  readonly waiting: Map<string, number>
  /** Members that left, and whose leaving was reported. */
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
    // Tried again every now and then, but reported once.
    waiting.set(key, performance.now())
    return triedAt === undefined ? [{ text, isUrgent: true }] : []
  }
  await note(outcome.kind)
  return [{ text, isUrgent: outcome.kind === 'conflict' || outcome.kind === 'failed' }]
}

/** Starts a dead member again; one that died too often counts as having left. */
async function revive(state: State, seen: SeenMember, news: News[]): Promise<SeenMember> {
  const { home, team, started, restarts, world } = state
  const { name } = seen.member
  const own = started.get(name)
  if (seen.life !== 'gone' && seen.life !== 'starting') return seen
  // The record is still that of the process before.
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
