import { LETTER_CHARS_MAX } from 'palimpsest/agents'

import type { PlanningSetup } from '../agent/plan/create-planning.ts'
import type { Messenger } from '../agent/tools/send-message-tool.ts'
import type { Seat } from './seat.ts'

/** Leaves room for the rest of the request. */
const PLAN_CHARS_MAX = LETTER_CHARS_MAX - 1_000

/** A teammate without a user hands its plan to the leader. Undefined for everyone else. */
export function askLeaderOf({
  seat,
  user,
  agents,
}: {
  readonly seat?: Seat | undefined
  /** If set, the user at the screen decides. */
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
