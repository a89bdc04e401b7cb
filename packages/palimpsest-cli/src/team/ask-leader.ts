import { LETTER_CHARS_MAX } from 'palimpsest/agents'

import type { PlanningSetup } from '../agent/plan/create-planning.ts'
import type { Messenger } from '../agent/tools/send-message-tool.ts'
import type { Seat } from './seat.ts'

/** Room for the rest of the request. */
const PLAN_CHARS_MAX = LETTER_CHARS_MAX - 1_000

/** A teammate that no user watches hands its plan to the leader. Undefined for everybody else. */
export function askLeaderOf({
  seat,
  user,
  agents,
}: {
  readonly seat?: Seat | undefined
  /** Who decides where somebody sits there. */
  readonly user?: object | undefined
  readonly agents?: Messenger | undefined
}): PlanningSetup['askLeader'] {
  if (!seat || seat.self === seat.leader || user || !agents) return undefined
  return async ({ text }, requestId) => {
    const reason = text.length > PLAN_CHARS_MAX ? `${text.slice(0, PLAN_CHARS_MAX)}\n[cut]` : text
    const message = { type: 'plan_approval_request', request_id: requestId, reason } as const
    await agents.send({ to: seat.leader, message, summary: 'asks to approve a plan' })
  }
}
