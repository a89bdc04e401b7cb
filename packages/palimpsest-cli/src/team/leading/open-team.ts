import { randomBytes } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { UsageError } from 'palimpsest'
import { createTaskList, isAgentName, TASK_LEASE_MINUTES } from 'palimpsest/agents'
import { openFileMailbox, openFileTaskLog, ownIdentity, stateOf } from 'palimpsest/node'

import { readingEnvironment } from '../../agent/process/child-environment.ts'
import type { PermissionMode } from '../../agent/permissions/permission-mode.ts'
import type { CommandInput } from '../../commands/command.ts'
import type { PreparedRun } from '../../run/prepare-run.ts'
import type { World } from '../../world.ts'
import { memberNames, MEMBERS_MAX } from './member-names.ts'
import { placeMembers, startMember, type StartedMember } from './start-members.ts'
import { openPanes } from './team-panes.ts'
import { createSteward, type Steward } from './steward.ts'
import { LEADER, requireFreeName } from '../seat.ts'
import {
  makeTeamFolders,
  readTeam,
  teamFolder,
  teamNames,
  writeTeam,
  type TeamRecord,
} from '../team-record.ts'

// Creates a team, or finds it again: its folder, its members, their processes.

export interface TeamWish {
  readonly name: string
  readonly goal: string
  readonly agents: number
  readonly hasWorktrees: boolean
  readonly hasScreen: boolean
  readonly flags: TeamRecord['flags']
}

export interface OpenedTeam {
  readonly steward: Steward
  readonly notices: readonly string[]
}

/** Called once the leader's own run is prepared. */
export async function openTeam(
  wish: TeamWish,
  prepared: Pick<PreparedRun, 'isolate' | 'permissions' | 'setup'>,
  place: { readonly home: string; readonly cwd: string },
  world: World,
): Promise<OpenedTeam> {
  const { home, cwd } = place
  const { name, goal, flags, hasScreen } = wish
  await makeTeamFolders(home, name)
  const isolate = wish.hasWorktrees ? prepared.isolate : undefined
  const { members, notice } = await placeMembers(memberNames(wish.agents), { name, cwd }, isolate)
  const team: TeamRecord = {
    name,
    goal,
    cwd,
    startedAt: world.now(),
    state: 'working',
    hasScreen,
    mode: prepared.permissions.mode(),
    flags,
    leader: await ownIdentity(),
    leaderSession: prepared.setup.session.id,
    members,
    panes: [],
    settled: {},
  }
  await writeTeam(home, team)
  // They can get mail and tasks before they have started.
  for (const member of members) await openFileMailbox({ home, team: name, self: member.name })
  const started = new Map<string, StartedMember>()
  for (const member of members) started.set(member.name, await startMember(member, team, home, world))
  const steward = await stewardOf(team, { home, started }, prepared.permissions.mode, world)
  const shown = await openPanes(team, home, world)
  if (shown.panes.length > 0) await steward.change({ panes: shown.panes })
  return { steward, notices: [notice, shown.notice].flatMap((text) => text ?? []) }
}

/** Living members are found again; the first look starts the others. */
export async function findTeam(
  team: TeamRecord,
  prepared: Pick<PreparedRun, 'permissions' | 'setup'>,
  { home, hasScreen }: { readonly home: string; readonly hasScreen: boolean },
  world: World,
): Promise<OpenedTeam> {
  const again: TeamRecord = {
    ...team,
    state: 'working',
    hasScreen,
    mode: prepared.permissions.mode(),
    leader: await ownIdentity(),
    leaderSession: prepared.setup.session.id,
  }
  await writeTeam(home, again)
  return {
    steward: await stewardOf(again, { home, started: new Map() }, prepared.permissions.mode, world),
    notices: [],
  }
}

export async function stewardOf(
  team: TeamRecord,
  { home, started }: { readonly home: string; readonly started: Map<string, StartedMember> },
  mode: () => PermissionMode,
  world: World,
): Promise<Steward> {
  const log = await openFileTaskLog({ home, team: team.name })
  const clock = { now: world.now }
  const tasks = createTaskList({ log, clock, self: LEADER, isLeader: true, leaseMs: LEASE_MS })
  const git = readingEnvironment(world.env, [team.cwd])
  return createSteward({ home, team, tasks, mode, git, started }, world)
}

/** The steward only looks; a lease of its own would last as long as any other. */
const LEASE_MS = TASK_LEASE_MINUTES * 60_000

/** An existing team whose leader is gone. */
export async function requireLeaderless(home: string, name: string): Promise<TeamRecord> {
  const team = await requireTeam(home, name)
  if (team.state === 'ended')
    throw new UsageError(
      `the team ${name} has ended. \`palimpsest --resume ${team.leaderSession}\` resumes its leader's session`,
    )
  if ((await stateOf(team.leader)) === 'gone') return team
  throw new UsageError(`the team ${name} has a leader: process ${team.leader.pid}. Stop it first`)
}

export async function requireTeam(home: string, name: string): Promise<TeamRecord> {
  const team = await readTeam(home, name)
  if (team) return team
  const names = await teamNames(home)
  throw new UsageError(
    `there is no team called ${JSON.stringify(name)}${names.length > 0 ? `; there are: ${names.join(', ')}` : ''}`,
  )
}

export function agentCount(text: string | undefined): number {
  const count = Number(text ?? AGENTS_DEFAULT)
  if (Number.isInteger(count) && count >= 1 && count <= MEMBERS_MAX) return count
  throw new UsageError(`--agents "${text}": give a whole number from 1 to ${MEMBERS_MAX}`)
}

/** As many as a person can follow. */
const AGENTS_DEFAULT = 3

/** A free name: the wanted one, or one made from the goal. */
export async function teamName(home: string, wanted: string | undefined, goal: string): Promise<string> {
  const name = wanted ?? `${slugOf(goal)}-${randomBytes(2).toString('hex')}`
  if (!isAgentName(name) || name.length > NAME_CHARS_MAX)
    throw new UsageError(
      `--name ${JSON.stringify(name)}: use letters, digits, - and _, at most ${NAME_CHARS_MAX}`,
    )
  requireFreeName('--name', name)
  await mkdir(join(home, 'teams'), { recursive: true, mode: FOLDER_MODE })
  const there = await readTeam(home, name)
  if (there) {
    const cure = there.state === 'ended' ? 'remove what ended teams left with --clean' : `--resume ${name}`
    throw new UsageError(`there is already a team called ${name}. Choose another --name, or ${cure}`)
  }
  const left = await leftIn(home, name)
  if (left !== undefined)
    throw new UsageError(
      `${teamFolder(home, name)} holds ${left} of runs that cannot be resumed as a team, and a new team would take them for its own. Choose another --name, or move that folder away`,
    )
  return name
}

/** Leftovers that another team would silently take over. */
async function leftIn(home: string, name: string): Promise<string | undefined> {
  const entries: readonly string[] = await readdir(teamFolder(home, name), { recursive: true }).catch(
    () => [],
  )
  if (entries.includes('team.json')) return 'an unreadable team.json and other files'
  if (entries.includes('tasks.jsonl')) return 'tasks'
  return entries.some((entry) => LETTER.test(entry)) ? 'messages' : undefined
}

/** An unread message. */
const LETTER = /^mail\/[^/]+\/\d{12}~[^/]+\.json$/

const FOLDER_MODE = 0o700
/** Branches and folders are named after the team. */
const NAME_CHARS_MAX = 40
const SLUG_CHARS_MAX = 20

function slugOf(goal: string): string {
  const words = goal.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.slice(0, 3).join('-').slice(0, SLUG_CHARS_MAX).replace(/-$/, '') || 'team'
}

/** Flags not passed to teammates: which session, how it is shown, where it is. The cost limit is split. */
const OWN_FLAGS = new Set(
  'print output-format continue resume session-id cwd agents name no-worktrees shutdown clean plain debug verbose team as stay help'.split(
    ' ',
  ),
)
const PATH_FLAGS = new Set(['settings', 'add-dir'])

/** The flags that teammates and a resumed leader run with. Addresses that hold a secret are not kept. */
export function sharedFlags({ flags }: CommandInput, { cwd }: Pick<World, 'cwd'>): TeamRecord['flags'] {
  const entries = Object.entries(flags).flatMap(([name, value]): [string, string | boolean][] => {
    if (value === undefined || OWN_FLAGS.has(name)) return []
    if (typeof value !== 'string' || !PATH_FLAGS.has(name)) return [[name, value]]
    // One path per line, if there are several.
    const paths = value.split('\n').map((path) => resolve(cwd, path))
    return [[name, paths.join('\n')]]
  })
  return Object.fromEntries(entries)
}

/** Splits the cost limit equally among the members and the leader. */
export function shareOf(flags: TeamRecord['flags'], members: number): TeamRecord['flags'] {
  const whole = Number(flags['max-cost'])
  if (!Number.isFinite(whole) || whole <= 0) return flags
  return { ...flags, 'max-cost': String(whole / (members + 1)) }
}
