import { UsageError } from 'palimpsest'
import { isAgentName } from 'palimpsest/agents'

/** Whose place in which team a run takes. */
export interface Seat {
  readonly team: string
  readonly self: string
  /** Who is asked for permission, and who decides about plans. */
  readonly leader: string
  /** Where its work is, if it has a branch of its own. */
  readonly branch?: string | undefined
}

/** The name of whoever leads a team. */
export const LEADER = 'leader'

/** Who tells a leader what no agent says: what was merged, that all is done. Nobody reads what is written to it. */
export const TEAM_SENDER = 'team'
/** The mailboxes of sessions: no team is called that. */
export const SESSIONS = 'sessions'

/** Ends the name under which questions about permission pass: whoever had a seat there would read them. */
export const DESK = '-desk'

/** `--team NAME --as AGENT`. Undefined where neither is given. */
export function seatOf(team: string | undefined, self: string | undefined): Seat | undefined {
  if (team === undefined && self === undefined) return undefined
  if (team === undefined) throw new UsageError('--as needs --team: in which team?')
  if (self === undefined)
    throw new UsageError(`--team needs --as: who in the team? The leader is "${LEADER}"`)
  requireName('--team', team)
  requireName('--as', self)
  requireFreeName('--team', team)
  return { team, self, leader: LEADER }
}

/** Throws for what is a folder of ours, in capitals too: some disks make no difference. */
export function requireFreeName(flag: string, team: string): void {
  const name = team.toLowerCase()
  if (name === SESSIONS) throw new UsageError(`${flag} ${team}: that name is reserved. Choose another one`)
  if (name.endsWith(DESK))
    throw new UsageError(`${flag} ${team}: names that end in "${DESK}" are reserved. Choose another one`)
}

function requireName(flag: string, name: string): void {
  if (!isAgentName(name))
    throw new UsageError(`${flag} ${JSON.stringify(name)}: letters, digits, - and _, at most 64 of them`)
}
