import { lstat, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { StorageError } from 'palimpsest'
import { stateOf, takeLock } from 'palimpsest/node'

import { readingEnvironment } from '../../agent/process/child-environment.ts'
import { gitIn } from '../../agents/worktree.ts'
import type { World } from '../../world.ts'
import { DESK } from '../seat.ts'
import { readMember, readTeam, teamFolder, teamNames, type TeamRecord } from '../team-record.ts'

// Removes what ended teams left behind, when the user asks: the record, the task list, the output. Never removes an unread message, the
// record of work that is not merged, or anything of a team that has not ended.

export interface CleanedTeams {
  readonly removed: readonly string[]
  readonly kept: readonly { readonly name: string; readonly why: string }[]
}

export async function cleanTeams(home: string, { env }: Pick<World, 'env'>): Promise<CleanedTeams> {
  await finishEarlier(home)
  const removed: string[] = []
  const kept: { readonly name: string; readonly why: string }[] = []
  for (const name of (await teamNames(home)).toSorted()) {
    const found = await readTeam(home, name)
    if (!found) continue
    // Whatever name the record gives, it is about this folder.
    const team = { ...found, name }
    const why = (await whyKept(home, team, env)) ?? (await remove(home, name))
    if (why === undefined) removed.push(name)
    else kept.push({ name, why })
  }
  return { removed, kept }
}

async function whyKept(home: string, team: TeamRecord, env: World['env']): Promise<string | undefined> {
  const { name, members } = team
  const folder = teamFolder(home, name)
  if (team.state !== 'ended')
    return `it has not ended. \`palimpsest team --shutdown ${name}\` ends it, with a report`
  if (!(await lstat(folder)).isDirectory()) return `${folder} is a link`
  for (const member of members) {
    const record = await readMember(home, name, member.name)
    if (record && (await stateOf(record.process)) !== 'gone') return `${member.name} still runs`
  }
  const seated = await findSeated(home, folder)
  if (seated !== undefined) return `a run still has the seat of ${seated}`
  const unread = await unreadIn(folder)
  if (unread !== undefined) return unread
  const git = gitIn(team.cwd, readingEnvironment(env, [team.cwd]))
  for (const { worktree } of members) {
    if (!worktree) continue
    if (await exists(worktree.path)) return `its worktree ${worktree.path} is still there`
    const branch = await git('rev-parse', '--verify', '--quiet', `refs/heads/${worktree.branch}`)
    if (branch.ok) return `its branch ${worktree.branch} is still there`
  }
  return undefined
}

/** A user may have taken a seat by hand: `--team NAME --as AGENT`. */
async function findSeated(home: string, folder: string): Promise<string | undefined> {
  const seats = join(folder, 'seats')
  for (const name of await namesIn(seats)) {
    if (!name.endsWith('.lock')) continue
    try {
      await (await takeLock(home, join(seats, name))).release()
    } catch (error) {
      if (!(error instanceof StorageError) || error.failure !== 'locked') throw error
      return name.slice(0, -'.lock'.length)
    }
  }
  return undefined
}

const LETTER = /^\d{12}~[^/]+\.json$/

async function unreadIn(folder: string): Promise<string | undefined> {
  const mail = join(folder, 'mail')
  for (const who of await namesIn(mail)) {
    const letters = (await namesIn(join(mail, who))).filter((name) => LETTER.test(name))
    if (letters.length === 0) continue
    const count = letters.length === 1 ? 'a message' : `${letters.length} messages`
    return `${count} that ${who} has not read ${letters.length === 1 ? 'is' : 'are'} in ${join(mail, who)}`
  }
  return undefined
}

/** Moves the folder first: later messages to the team then fail, and their senders learn it; messages that came just before are found. */
async function remove(home: string, name: string): Promise<string | undefined> {
  const folder = teamFolder(home, name)
  const moved = join(home, 'teams', `${REMOVED}${name}`)
  await rename(folder, moved)
  const unread = await unreadIn(moved)
  if (unread !== undefined) {
    await rename(moved, folder)
    return unread.replaceAll(moved, folder)
  }
  // Questions for permission: no one waits for an answer any more.
  for (const path of [teamFolder(home, `${name}${DESK}`), moved])
    await rm(path, { recursive: true, force: true })
  return undefined
}

/** Prefix that no team name has. */
const REMOVED = '.removed-'

/** Finishes what a killed run had moved. */
async function finishEarlier(home: string): Promise<void> {
  const teams = join(home, 'teams')
  for (const entry of await namesIn(teams)) {
    if (!entry.startsWith(REMOVED)) continue
    const back = join(teams, entry.slice(REMOVED.length))
    if ((await unreadIn(join(teams, entry))) === undefined)
      await rm(join(teams, entry), { recursive: true, force: true })
    else if (!(await exists(back))) await rename(join(teams, entry), back)
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return await readdir(folder).catch(() => [])
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}
