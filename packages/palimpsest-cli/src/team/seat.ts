import { UsageError } from 'palimpsest'
import { isAgentName } from 'palimpsest/agents'

/** The place in a team that a run takes. */
export interface Seat {
  readonly team: string
  readonly self: string
  /** Decides about permissions and plans. */
  readonly leader: string
  /** Branch that it works on, if it has its own. */
  readonly branch?: string | undefined
}

/** Name of the leader of every team. */
export const LEADER = 'leader'

/** Sender of what no agent says to a leader: what was merged, that everything is done. Mail to it is never read. */
export const TEAM_SENDER = 'team'
/** Name for the mailboxes of sessions; no team may have it. */
export const SESSIONS = 'sessions'

/** Suffix of the name for permission questions: a member with a seat there would read them. */
export const DESK = '-desk'

/** `--team NAME --as AGENT`. Undefined if neither is given. */
export function seatOf(team: string | undefined, self: string | undefined): Seat | undefined {
  if (team === undefined && self === undefined) return undefined
  if (team === undefined) throw new UsageError('--as needs --team: name the team')
  if (self === undefined)
    throw new UsageError(`--team needs --as: name the teammate; the leader is "${LEADER}"`)
  requireName('--team', team)
  requireName('--as', self)
  requireFreeName('--team', team)
  return { team, self, leader: LEADER }
}

/** Throws for names of our own folders, in any case: some disks ignore case. */
export function requireFreeName(flag: string, team: string): void {
  const name = team.toLowerCase()
  if (name === SESSIONS) throw new UsageError(`${flag} ${team}: that name is reserved. Choose another one`)
  if (name.endsWith(DESK))
    throw new UsageError(`${flag} ${team}: names that end in "${DESK}" are reserved. Choose another one`)
}

function requireName(flag: string, name: string): void {
  if (!isAgentName(name))
    throw new UsageError(`${flag} ${JSON.stringify(name)}: use letters, digits, - and _, at most 64 of them`)
}
