import { open } from 'node:fs/promises'

import { UsageError } from 'palimpsest'

import { startBeside } from '../../agent/process/start-process.ts'
import type { Isolate } from '../../run/isolate-agent.ts'
import type { World } from '../../world.ts'
import { outputPath, type TeamMember, type TeamRecord } from '../team-record.ts'

// Teammates are separate processes: they outlive a leader that is killed, and wait for it. What they need to know is in the team's file and
// in the environment. The command line, which everyone on the machine can read, only has names.

export interface PlacedMembers {
  readonly members: readonly TeamMember[]
  /** Why there are no worktrees; undefined if there are. */
  readonly notice?: string | undefined
}

/** A git worktree for each member, or one reason why all of them work where the leader does. */
export async function placeMembers(
  names: readonly string[],
  team: Pick<TeamRecord, 'name' | 'cwd'>,
  isolate: Isolate | undefined,
): Promise<PlacedMembers> {
  const here = names.map((name) => ({ name, cwd: team.cwd }))
  if (!isolate) return { members: here }
  const members: TeamMember[] = []
  for (const name of names) {
    const entered = await isolate.enter(`${team.name}-${name}`, undefined)
    if (!entered.ok) {
      for (const { worktree } of members) if (worktree) await isolate.leave(worktree)
      return { members: here, notice: `Teammates share this folder, without worktrees. ${entered.told}` }
    }
    const { path, branch, base, cwd } = entered.place.worktree
    members.push({ name, cwd, worktree: { path, branch, base } })
  }
  return { members }
}

export interface StartedMember {
  readonly hasEnded: () => boolean
}

export async function startMember(
  member: TeamMember,
  { name: team, flags }: Pick<TeamRecord, 'name' | 'flags'>,
  home: string,
  { self, env }: World,
): Promise<StartedMember> {
  const [program, ...own] = self ?? []
  if (program === undefined)
    throw new UsageError('this program cannot start itself again, so it cannot run a team')
  const args = [...own, 'team', '--team', team, '--as', member.name]
  const address = flags['base-url']
  const given = { ...env, ...(typeof address === 'string' && { [ADDRESS_VARIABLE]: address }) }
  const output = await open(outputPath(home, team, member.name), 'a', OUTPUT_MODE)
  try {
    const start = { program, args, cwd: member.cwd }
    return { hasEnded: startBeside(start, { ...given, PALIMPSEST_HOME: home }, output.fd) }
  } finally {
    await output.close()
  }
}

/** An address may hold a token, and everyone on the machine can read a command line. */
export const ADDRESS_VARIABLE = 'PALIMPSEST_TEAM_BASE_URL'
const OUTPUT_MODE = 0o600
