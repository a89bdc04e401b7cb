import {
  ABLATIONS,
  TIME_REVERSED,
  type PairedRow,
  type PooledWindow,
  type ReplayReport,
} from 'palimpsest/replay'

// What is compared with what, and when a difference counts.

/** The strategy that is compared with the others. */
export const OWN = 'palimpsest'

/** The strategy that manages nothing; costs are shares of its cost. */
export const UNMANAGED = 'none'

/** Requests that no one would send, whose worth is known in advance. They judge the measure, and are not compared with anything. */
export const CONTROLS = ['empty', 'random', 'soup', 'crumbs', 'oracle', TIME_REVERSED] as const

/** Controls that are made at the size of each strategy's requests. */
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

/** Five sessions agree by chance once in sixteen times, six once in thirty-two. */
export const PAIRED_SESSIONS_MIN = 6

export type ComparedColumn = 'cost_ratio' | 'frr_line' | 'edit_line'
export type Verdict = 'better' | 'worse' | 'level'

/** Judged by the interval alone: if it contains 0, the difference is not significant. */
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

/** `palimpsest-no-cold` is shown as `no-cold`. */
export function partName(strategy: string): string {
  return strategy.startsWith(OWN) ? strategy.slice(OWN.length).replace(/^-/, '') : strategy
}
