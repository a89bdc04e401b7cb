import { setTimeout as sleep } from 'node:timers/promises'

import { stateOf } from 'palimpsest/node'

import { leaveWorktree } from '../../agents/worktree.ts'
import type { World } from '../../world.ts'
import type { SeenMember } from './look-around.ts'
import type { Steward, TeamLook } from './steward.ts'
import { closePanes } from './team-panes.ts'

// The end of a team: teammates are asked to leave, then told to, then killed. No process stays, and no worktree without work in it.

/** How long a teammate may take to finish its turn. */
const ASKED_MS = 20_000
/** How long a teammate may take to close its session after SIGTERM. */
const TOLD_MS = 10_000
const LOOK_MS = 100

export interface EndedTeam {
  readonly look: TeamLook
  /** Worktrees that are kept, and why, for the user. */
  readonly kept: readonly string[]
}

/** `isCalledOff`: turns under way are not waited for. */
export async function endTeam(
  steward: Steward,
  isCalledOff: boolean,
  world: Pick<World, 'env' | 'cwd'>,
): Promise<EndedTeam> {
  if (steward.team().state === 'working') await steward.change({ state: 'ending' })
  const isOver = async (): Promise<boolean> => running(await steward.look()).length === 0
  if (!isCalledOff && (await within(ASKED_MS, isOver))) return await leave(steward, world)
  await signalAll(steward, 'SIGTERM')
  if (!(await within(TOLD_MS, isOver))) await signalAll(steward, 'SIGKILL')
  await within(TOLD_MS, isOver)
  return await leave(steward, world)
}

function running({ members }: TeamLook): readonly SeenMember[] {
  return members.filter(({ life }) => life === 'running' || life === 'starting')
}

async function within(ms: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + ms
  while (performance.now() < until) {
    if (await isSo()) return true
    await sleep(LOOK_MS)
  }
  return await isSo()
}

async function signalAll(steward: Steward, signal: NodeJS.Signals): Promise<void> {
  for (const { record } of running(await steward.look())) {
    if (!record || (await stateOf(record.process)) !== 'running') continue
    try {
      process.kill(record.process.pid, signal)
    } catch {
      // It ended just now.
    }
  }
}

async function leave(steward: Steward, world: Pick<World, 'env' | 'cwd'>): Promise<EndedTeam> {
  await closePanes(steward.team().panes, world)
  const look = await steward.look()
  const { members, cwd } = steward.team()
  const kept: string[] = []
  for (const { name, worktree } of members) {
    if (!worktree) continue
    // The starting commit does not matter: what is merged is here too.
    const { record } = look.members.find(({ member }) => member.name === name) ?? {}
    const leaving = { path: worktree.path, branch: worktree.branch, written: record?.written ?? [] }
    const sentences = await leaveWorktree(leaving, cwd, steward.git)
    kept.push(...sentences.map((text) => `${name}: ${text}`))
  }
  await steward.change({ state: 'ended' })
  return { look, kept }
}
