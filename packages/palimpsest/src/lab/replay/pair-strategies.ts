import type { SessionReport } from './replay-one.ts'
import { NO_COST } from './replay-strategy.ts'
import { toReport, type PooledRow } from './report.ts'
import type { Row } from './row.ts'

// Two strategies on the same sessions: sessions differ far more from each other than strategies do within one, so differences are taken
// per session first and drawn again by project.

export interface PairedRow {
  /** Whom it is held against. */
  readonly against: string
  /** Sessions that both have, and the projects they are of. */
  readonly sessions: number
  readonly projects: number
  /** Of the unmanaged cost: 0.01 is a hundredth of it. Below zero is cheaper. */
  readonly cost_ratio: Difference | null
  /** Above zero keeps more. */
  readonly frr_line: Difference | null
  readonly edit_line: Difference | null
  readonly edit_whole: Difference | null
}

/** Own less other: mean over sessions, and where 95% of the means of drawn sets of projects lie. */
export interface Difference {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** One strategy against every other in one window, in their order. Controls are not among them. */
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
  // Pooled like any other figure, so that intervals mean the same everywhere.
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

/** A control has no requests, so that nothing of it was read from a cache. */
function isStrategy({ at, cache_hit_rate: rate }: Row): boolean {
  return at === undefined && rate !== null
}

/** The other's row with differences in the columns that are compared, and nothing in all others: drawing is the dear part. */
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
