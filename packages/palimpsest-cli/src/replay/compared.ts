import {
  ABLATIONS,
  TIME_REVERSED,
  type PairedRow,
  type PooledWindow,
  type ReplayReport,
} from 'palimpsest/replay'

// Who is held against whom, and when a difference is one.

/** The strategy that is held against the others. */
export const OWN = 'palimpsest'

/** The strategy that manages nothing: what costs are shares of. */
export const UNMANAGED = 'none'

/** Requests that nobody would send, whose worth is known beforehand: they judge the measure, and are compared with nobody. */
export const CONTROLS = ['empty', 'random', 'soup', 'crumbs', 'oracle', TIME_REVERSED] as const

/** Those that are made at the size of each strategy's requests. */
export const SIZED_CONTROLS = CONTROLS.filter((name) => name !== 'empty')

export function isControl({ strategy }: { readonly strategy: string }): boolean {
  return CONTROLS.some((name) => name === strategy)
}

/** The report with each control marked as one. */
export function withControlsMarked(report: ReplayReport): object {
  const mark = (rows: readonly { readonly strategy: string }[]): readonly object[] =>
    rows.map((row) => (isControl(row) ? { ...row, control: true } : row))
  const window = (pooled: PooledWindow): object => ({ ...pooled, strategies: mark(pooled.strategies) })
  return {
    ...report,
    sessions: report.sessions.map((session) => ({ ...session, strategies: mark(session.strategies) })),
    pooled: window(report.pooled),
    windows: report.windows.map(window),
  }
}

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
