/** Memory is consolidated when this many hours have passed and this many other sessions were used since. */
export const DREAM_HOURS = 24
export const DREAM_SESSIONS = 5
/** For one consolidation. Thirty sessions take about a third of it. */
export const DREAM_REQUESTS_MAX = 60
export const DREAM_COST_USD_MAX = 1

/** Looking at all sessions takes a moment, so it is not done after every turn. */
export const SCAN_EVERY_MS = 10 * 60_000
/** A holder that is gone is replaced after this long; before that, someone may still be looking at what it left. */
export const STALE_MS = 60 * 60_000
/** We cannot look for a holder on another machine. No consolidation takes this long. */
export const UNSEEN_STALE_MS = 24 * 60 * 60_000
/** How far ahead of now the last consolidation may be: further, and the clock was wrong then. */
export const AHEAD_MS_MAX = 30 * 24 * 60 * 60_000
/** Longer than any dream takes; a machine that was suspended for this long finds it over. */
export const DREAM_MS_MAX = 30 * 60_000
/** How long the folder rests after a failure. It doubles with each further failure, up to a day. */
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
