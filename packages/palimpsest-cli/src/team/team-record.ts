import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { isAgentName } from 'palimpsest/agents'
import { readPlainText, type ProcessIdentity } from 'palimpsest/node'
import { isJsonObject, type Json, type JsonObject } from 'palimpsest/wire'

import { parseJsonObject } from '../agent/files/parse-json-object.ts'
import { placeOwnFile } from '../agent/files/place-own-file.ts'
import { holdsSecret } from '../agent/process/child-environment.ts'
import { findPermissionMode, type PermissionMode } from '../agent/permissions/permission-mode.ts'

// What a team records about itself, in files with one writer each: the leader writes `teams/<team>/team.json`, and each member its own
// `teams/<team>/members/<name>.json`. So no lock is needed, and a killed process leaves its last state.

export interface TeamRecord {
  readonly name: string
  readonly goal: string
  /** The folder the leader works in. */
  readonly cwd: string
  readonly startedAt: number
  /** `ending`: teammates finish their current work and leave. `ended`: everyone has left. */
  readonly state: TeamState
  /** There is a user at the leader's screen who can be asked. */
  readonly hasScreen: boolean
  /** What the leader may do unasked now; no member may do more. */
  readonly mode: PermissionMode
  /** Flags of the command; teammates and a resumed leader run with them. */
  readonly flags: { readonly [name: string]: string | boolean }
  readonly leader: ProcessIdentity
  readonly leaderSession: string
  readonly members: readonly TeamMember[]
  /** Tmux panes that show the output of teammates. */
  readonly panes: readonly string[]
  /** What became of finished work, by `workKey`; work that is not here waits. */
  readonly settled: { readonly [work: string]: MergeOutcome }
}

export const TEAM_STATES = ['working', 'ending', 'ended'] as const
export type TeamState = (typeof TEAM_STATES)[number]

export interface TeamMember {
  readonly name: string
  /** The folder it works in. */
  readonly cwd: string
  /** Absent: it works where the leader does. */
  readonly worktree?: { readonly path: string; readonly branch: string; readonly base: string } | undefined
}

export interface MemberRecord {
  readonly name: string
  readonly process: ProcessIdentity
  readonly sessionId: string
  readonly state: MemberState
  /** A few words: what it is doing, or why it ended. */
  readonly doing: string
  readonly spent: MemberSpent
  readonly finished: readonly FinishedWork[]
  /** The newest messages that it received, oldest first. */
  readonly heard: readonly HeardLetter[]
  /** Files that it wrote with its tools: if git ignores them, nothing else shows that they are work. */
  readonly written: readonly string[]
}

export interface HeardLetter {
  readonly at: number
  readonly from: string
  readonly summary: string
}

/** For people who read along; the transcript has all of them. */
export const HEARD_MAX = 20

/** `stuck`: it made no progress, and takes nothing up by itself any more; or it has handed in its plan, in plan mode. */
export const MEMBER_STATES = ['working', 'idle', 'stuck', 'ended'] as const
export type MemberState = (typeof MEMBER_STATES)[number]

export interface MemberSpent {
  readonly promptTokens: number
  /** The part of them that came from the cache. */
  readonly cachedTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

export const NOTHING_SPENT: MemberSpent = { promptTokens: 0, cachedTokens: 0, outputTokens: 0, costUsd: 0 }

/** A completed task, and the commit that the branch was at then. */
export interface FinishedWork {
  readonly task: number
  /** Epoch of the task when it was completed: a task may be reopened. */
  readonly epoch: number
  readonly subject: string
  /** Absent: there was nothing to commit, or no worktree. */
  readonly commit?: string | undefined
  /** Why the changes could not be committed; they are only in the worktree. */
  readonly problem?: string | undefined
}

export const MERGE_OUTCOMES = ['merged', 'nothing', 'conflict', 'failed'] as const
export type MergeOutcome = (typeof MERGE_OUTCOMES)[number]

export function workKey({ task, epoch }: Pick<FinishedWork, 'task' | 'epoch'>): string {
  return `${task}.${epoch}`
}

export function teamFolder(home: string, team: string): string {
  return join(home, 'teams', team)
}

export function membersFolder(home: string, team: string): string {
  return join(teamFolder(home, team), 'members')
}

/** What a process without a screen prints. */
export function outputPath(home: string, team: string, name: string): string {
  return join(teamFolder(home, team), 'output', `${name}.log`)
}

const FOLDER_MODE = 0o700

export async function makeTeamFolders(home: string, team: string): Promise<void> {
  for (const folder of ['members', 'output'])
    await mkdir(join(teamFolder(home, team), folder), { recursive: true, mode: FOLDER_MODE })
}

/** Drops an address that holds a token; the user gives it again for a resumed leader. */
export async function writeTeam(home: string, team: TeamRecord): Promise<void> {
  const flags = Object.fromEntries(
    Object.entries(team.flags).filter(
      ([name, value]) => name !== 'base-url' || typeof value !== 'string' || !holdsSecret(value),
    ),
  )
  await write(join(teamFolder(home, team.name), 'team.json'), { ...team, flags })
}

export async function writeMember(home: string, team: string, member: MemberRecord): Promise<void> {
  await write(join(membersFolder(home, team), `${member.name}.json`), { ...member })
}

async function write(path: string, value: object): Promise<void> {
  await placeOwnFile(path, Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`))
}

/** Undefined if there is no such team. */
export async function readTeam(home: string, team: string): Promise<TeamRecord | undefined> {
  if (!isAgentName(team)) return undefined
  const value = await readJson(join(teamFolder(home, team), 'team.json'))
  return value && parseTeam(value)
}

export async function readMember(
  home: string,
  team: string,
  name: string,
): Promise<MemberRecord | undefined> {
  const value = await readJson(join(membersFolder(home, team), `${name}.json`))
  return value && parseMember(value)
}

export async function teamNames(home: string): Promise<readonly string[]> {
  const names = await readdir(join(home, 'teams')).catch(() => [])
  const known = await Promise.all(names.map(async (name) => (await readTeam(home, name)) && name))
  return known.flatMap((name) => name ?? [])
}

/** Undefined if the file is missing or damaged: either way it says nothing. */
async function readJson(path: string): Promise<JsonObject | undefined> {
  return parseJsonObject(await readPlainText(path).catch(() => ''))
}

function parseTeam(value: JsonObject): TeamRecord | undefined {
  const { name, goal, cwd, startedAt, leaderSession, panes, settled } = value
  const leader = parseProcess(value['leader'])
  const mode = findPermissionMode(textIn(value['mode']))
  if (typeof name !== 'string' || !isAgentName(name) || typeof cwd !== 'string') return undefined
  if (!leader || !mode || typeof leaderSession !== 'string') return undefined
  return {
    name,
    goal: textIn(goal),
    cwd,
    startedAt: countIn(startedAt),
    state: TEAM_STATES.find((known) => known === value['state']) ?? 'working',
    hasScreen: value['hasScreen'] === true,
    mode,
    flags: flagsIn(value['flags']),
    leader,
    leaderSession,
    members: listIn(value['members']).flatMap((one) => parseTeamMember(one) ?? []),
    panes: (Array.isArray(panes) ? panes : []).filter((pane) => typeof pane === 'string'),
    settled: settledIn(settled),
  }
}

function parseTeamMember({ name, cwd, worktree }: JsonObject): TeamMember | undefined {
  if (typeof name !== 'string' || !isAgentName(name) || typeof cwd !== 'string') return undefined
  if (!isJsonObject(worktree)) return { name, cwd }
  const [path, branch, base] = ['path', 'branch', 'base'].map((key) => textIn(worktree[key]))
  return path && branch && base ? { name, cwd, worktree: { path, branch, base } } : { name, cwd }
}

function parseMember(value: JsonObject): MemberRecord | undefined {
  const { name, sessionId, doing } = value
  const process = parseProcess(value['process'])
  const state = MEMBER_STATES.find((known) => known === value['state'])
  if (typeof name !== 'string' || typeof sessionId !== 'string' || !process || !state) return undefined
  const spent = isJsonObject(value['spent']) ? value['spent'] : {}
  return {
    name,
    process,
    sessionId,
    state,
    doing: textIn(doing),
    spent: {
      promptTokens: countIn(spent['promptTokens']),
      cachedTokens: countIn(spent['cachedTokens']),
      outputTokens: countIn(spent['outputTokens']),
      costUsd: countIn(spent['costUsd']),
    },
    finished: listIn(value['finished']).map((one) => ({
      task: countIn(one['task']),
      epoch: countIn(one['epoch']),
      subject: textIn(one['subject']),
      commit: typeof one['commit'] === 'string' ? one['commit'] : undefined,
      problem: typeof one['problem'] === 'string' ? one['problem'] : undefined,
    })),
    written: (Array.isArray(value['written']) ? value['written'] : []).filter(
      (path) => typeof path === 'string',
    ),
    heard: listIn(value['heard']).map((one) => ({
      at: countIn(one['at']),
      from: textIn(one['from']),
      summary: textIn(one['summary']),
    })),
  }
}

export function parseProcess(value: Json | undefined): ProcessIdentity | undefined {
  if (!isJsonObject(value)) return undefined
  const { pid, host, startTicks, boot } = value
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return undefined
  if (typeof host !== 'string') return undefined
  return {
    pid,
    host,
    ...(typeof startTicks === 'string' && { startTicks }),
    ...(typeof boot === 'string' && { boot }),
  }
}

function flagsIn(value: Json | undefined): TeamRecord['flags'] {
  const entries = Object.entries(isJsonObject(value) ? value : {}).flatMap(([name, one]) =>
    typeof one === 'string' || typeof one === 'boolean' ? [[name, one] as const] : [],
  )
  return Object.fromEntries(entries)
}

function settledIn(value: Json | undefined): TeamRecord['settled'] {
  const entries = Object.entries(flagsIn(value)).flatMap(([work, one]) => {
    const outcome = MERGE_OUTCOMES.find((known) => known === one)
    return outcome ? [[work, outcome] as const] : []
  })
  return Object.fromEntries(entries)
}

function listIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((one) => isJsonObject(one)) : []
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function countIn(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
