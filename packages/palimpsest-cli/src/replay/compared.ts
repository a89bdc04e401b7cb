import { ABLATIONS, type PairedRow } from 'palimpsest/replay'

// Who is held against whom, and when a difference is one.

/** The strategy that is held against the others. */
export const OWN = 'palimpsest'

/** The strategy that manages nothing: what costs are shares of. */
export const UNMANAGED = 'none'

/** Five sessions that all say the same do so by chance once in sixteen times, six once in thirty-two. */
export const PAIRED_SESSIONS_MIN = 6

export type ComparedColumn = 'cost_ratio' | 'frr_line' | 'edit_line'
export type Verdict = 'better' | 'worse' | 'level'

/** Told by the interval alone: where it holds 0 there is no difference to speak of. */
export function verdictOf(row: PairedRow, column: ComparedColumn): Verdict {
  const difference = row[column]
  if (!difference || row.sessions < PAIRED_SESSIONS_MIN) return 'level'
  const { low, high } = difference
  if (low <= 0 && high >= 0) return 'level'
  return low > 0 === (column !== 'cost_ratio') ? 'better' : 'worse'
}

export function isAblation(strategy: string): boolean {
  return ABLATIONS.some(({ name }) => name === strategy)
}

/** `palimpsest-no-cold` is told as `no-cold`. */
export function partName(strategy: string): string {
  return strategy.startsWith(OWN) ? strategy.slice(OWN.length).replace(/^-/, '') : strategy
}
