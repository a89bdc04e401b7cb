import type { SessionReport } from './replay-one.ts'
import { NO_COST } from './replay-strategy.ts'
import { toReport, type PooledRow } from './report.ts'
import type { Row } from './row.ts'

// Compares two strategies on the same sessions. Sessions differ far more from each other than strategies do within one, so we take the
// differences per session first and resample them by project.

export interface PairedRow {
  /** The strategy that it is compared with. */
  readonly against: string
  /** Sessions that both have, and the number of their projects. */
  readonly sessions: number
  readonly projects: number
  /** Relative to the unmanaged cost: 0.01 is a hundredth of it. Below zero is cheaper. */
  readonly cost_ratio: Difference | null
  /** Above zero keeps more. */
  readonly frr_line: Difference | null
  readonly edit_line: Difference | null
  readonly edit_whole: Difference | null
}

/** Own minus other: mean over sessions, and the bounds of 95% of the means of resampled sets. */
export interface Difference {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** One strategy against every other in one window, in their order, without controls. */
export function pairStrategies(
  sessions: readonly SessionReport[],
  window: number,
  own: string,
): readonly PairedRow[] {
  const differences = sessions.map((session) => {
    const rows = session.strategies.filter((row) => row.window === window && isStrategy(row))
    const ours = rows.find((row) => row.strategy === own)
    const others = ours ? rows.filter((row) => row !== ours) : []
    return { ...session, strategies: others.flatMap((theirs) => (ours ? [subtract(ours, theirs)] : [])) }
  })
  // Pooled like any other figure, so intervals mean the same everywhere.
  return toReport(differences, [window], []).pooled.strategies.map((row) => ({
    against: row.strategy,
    sessions: row.sessions,
    projects: row.projects,
    cost_ratio: differenceIn(row, 'cost_ratio'),
    frr_line: differenceIn(row, 'frr_line'),
    edit_line: differenceIn(row, 'edit_line'),
    edit_whole: differenceIn(row, 'edit_whole'),
  }))
}

/** A control sends no requests, so it has no cache hit rate. */
function isStrategy({ at, cache_hit_rate: rate }: Row): boolean {
  return at === undefined && rate !== null
}

/** The other's row with the differences in the compared columns and null in all others: resampling is the expensive part. */
function subtract(ours: Row, theirs: Row): Row {
  const less = (column: ComparedColumn): number | null => {
    const [own, other] = [ours[column], theirs[column]]
    return own === null || other === null ? null : own - other
  }
  return {
    ...theirs,
    ...NO_COST,
    ...NO_RECALL,
    cost_ratio: less('cost_ratio'),
    frr_line: less('frr_line'),
    edit_line: less('edit_line'),
    edit_whole: less('edit_whole'),
  }
}

const NO_RECALL = {
  frr: null,
  frr_sole: null,
  frr_related: null,
  frr_line_quoted: null,
  edit_line_quoted: null,
  frr_user: null,
  user_words: null,
  prohibitions: null,
  modified_path_recall: null,
  modified_path_precision: null,
  last_operation: null,
  open_todos: null,
  unresolved_errors: null,
  order: null,
  recoverable: null,
  refetch_tokens: null,
  cascade_loss: null,
  step_miss: null,
} as const

type ComparedColumn = 'cost_ratio' | 'frr_line' | 'edit_line' | 'edit_whole'

function differenceIn(row: PooledRow, column: ComparedColumn): Difference | null {
  const [mean, bounds] = [row[column], row.ci[column]]
  return mean === null || !bounds ? null : { mean, ...bounds }
}
