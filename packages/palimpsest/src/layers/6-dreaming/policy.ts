/** Memory is consolidated when so many hours have passed and so many other sessions were used since. */
export const DREAM_HOURS = 24
export const DREAM_SESSIONS = 5
/** Of one consolidation. Thirty sessions take about a third of it. */
export const DREAM_REQUESTS_MAX = 60
export const DREAM_COST_USD_MAX = 1

/** To look at all sessions takes a moment: not after every turn. */
export const SCAN_EVERY_MS = 10 * 60_000
/** A holder that is gone is replaced after so long; before, somebody may still be looking at what it left. */
export const STALE_MS = 60 * 60_000
/** A holder on another machine cannot be looked for. No consolidation takes so long. */
export const UNSEEN_STALE_MS = 24 * 60 * 60_000
/** The last consolidation lies at most so far ahead of now: further, and the clock was wrong then. */
export const AHEAD_MS_MAX = 30 * 24 * 60 * 60_000
/** Longer than any takes; a machine that was suspended for as long finds it over. */
export const DREAM_MS_MAX = 30 * 60_000
/** After so many failures in a row a session begins no more of them. */
export const DREAM_FAILURES_MAX = 3
/** After a failure the folder rests so long, and twice as long after each more, up to a day. */
const REST_MS = 60 * 60_000
const REST_MS_MAX = 24 * 60 * 60_000

export function restMs(failuresInRow: number): number {
  return failuresInRow === 0 ? 0 : Math.min(REST_MS * 2 ** (failuresInRow - 1), REST_MS_MAX)
}

export interface DreamPolicy {
  readonly isOn: boolean
  readonly hours: number
  readonly sessions: number
  readonly maxRequests: number
  readonly maxCostUsd: number
}
