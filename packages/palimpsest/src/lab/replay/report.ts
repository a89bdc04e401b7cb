import { poolValues } from './measure/pool.ts'
import { SHARE_COLUMNS, type ShareColumn } from './measure/score.ts'
import type { SessionReport } from './replay-one.ts'
import { ENGINE_TEXT_SHARE_MAX, NUMBER_COLUMNS, type NumberColumn, type Row } from './row.ts'

// What `replay --json` prints.

export interface ReplayReport {
  readonly sessions: readonly SessionReport[]
  /** The first window. */
  readonly pooled: PooledWindow
  /** Every window. */
  readonly windows: readonly PooledWindow[]
  /** Files that were not replayed, and why. */
  readonly skipped: readonly { readonly file: string; readonly why: string }[]
}

export interface PooledWindow {
  readonly window: number
  readonly strategies: readonly PooledRow[]
}

type Column = ShareColumn | NumberColumn

/** Means over sessions, with equal weights. */
export type PooledRow = { readonly [column in Column]: number | null } & {
  readonly strategy: string
  readonly at?: string
  readonly sessions: number
  /** Number of projects of these sessions. Intervals come from resampling projects if there are enough of them. */
  readonly projects: number
  /** Sessions in which the strategy changed anything. */
  readonly sessions_acted: number
  readonly engine_text_red: boolean
  readonly cost_by_layer: { readonly [layer: string]: number }
  readonly ci: { readonly [column: string]: { readonly low: number; readonly high: number } }
  readonly p10: { readonly [column: string]: number }
}

const COLUMNS: readonly Column[] = [...NUMBER_COLUMNS, ...SHARE_COLUMNS]

export function toReport(
  sessions: readonly SessionReport[],
  windowsAsked: readonly number[],
  skipped: ReplayReport['skipped'],
): ReplayReport {
  const windows = windowsAsked.map((window) => ({ window, strategies: poolWindow(sessions, window) }))
  return { sessions, pooled: windows[0] ?? { window: 0, strategies: [] }, windows, skipped }
}

function poolWindow(sessions: readonly SessionReport[], window: number): PooledRow[] {
  const found = sessions.flatMap(({ strategies, project }) =>
    strategies.flatMap((row) => (row.window === window ? [{ row, project }] : [])),
  )
  const groups = Map.groupBy(found, ({ row }) => `${row.at ?? ''} ${row.strategy}`)
  return [...groups.values()].flatMap((rows) => {
    const [first] = rows
    return first ? [poolRows(first.row, rows)] : []
  })
}

interface ProjectRow {
  readonly row: Row
  readonly project: string
}

function poolRows({ strategy, at }: Row, found: readonly ProjectRow[]): PooledRow {
  const rows = found.map(({ row }) => row)
  const means = new Map<Column, number | null>()
  const ci: { [column: string]: { low: number; high: number } } = {}
  const p10: { [column: string]: number } = {}
  for (const column of COLUMNS) {
    const pooled = poolValues(found.map(({ row, project }) => ({ value: row[column], project })))
    means.set(column, pooled ? pooled.mean : null)
    if (!pooled) continue
    ci[column] = { low: pooled.low, high: pooled.high }
    p10[column] = pooled.p10
  }
  const mean = (column: Column): number | null => means.get(column) ?? null
  return {
    strategy,
    ...(at !== undefined && { at }),
    sessions: rows.length,
    projects: new Set(found.map(({ project }) => project)).size,
    sessions_acted: rows.filter((row) => (row.compactions ?? 0) > 0).length,
    ...columnsOf(mean),
    engine_text_red: (mean('engine_text_share') ?? 0) > ENGINE_TEXT_SHARE_MAX,
    cost_by_layer: meanByLayer(rows),
    ci,
    p10,
  }
}

function columnsOf(mean: (column: Column) => number | null): { readonly [column in Column]: number | null } {
  return {
    cost_usd: mean('cost_usd'),
    cost_ratio: mean('cost_ratio'),
    cache_hit_rate: mean('cache_hit_rate'),
    breaks: mean('breaks'),
    expired: mean('expired'),
    rewritten_tokens: mean('rewritten_tokens'),
    compactions: mean('compactions'),
    stops: mean('stops'),
    peak_tokens: mean('peak_tokens'),
    mean_tokens: mean('mean_tokens'),
    invalid_requests: mean('invalid_requests'),
    engine_text_share: mean('engine_text_share'),
    excerpt_share: mean('excerpt_share'),
    frr: mean('frr'),
    frr_sole: mean('frr_sole'),
    frr_related: mean('frr_related'),
    frr_line: mean('frr_line'),
    frr_line_quoted: mean('frr_line_quoted'),
    edit_line: mean('edit_line'),
    edit_line_quoted: mean('edit_line_quoted'),
    edit_whole: mean('edit_whole'),
    frr_user: mean('frr_user'),
    user_words: mean('user_words'),
    prohibitions: mean('prohibitions'),
    modified_path_recall: mean('modified_path_recall'),
    modified_path_precision: mean('modified_path_precision'),
    last_operation: mean('last_operation'),
    open_todos: mean('open_todos'),
    unresolved_errors: mean('unresolved_errors'),
    order: mean('order'),
    recoverable: mean('recoverable'),
    refetch_tokens: mean('refetch_tokens'),
    cascade_loss: mean('cascade_loss'),
    step_miss: mean('step_miss'),
  }
}

/** Mean over the sessions whose model has a price. */
function meanByLayer(rows: readonly Row[]): { readonly [layer: string]: number } {
  const priced = rows.filter((row) => row.cost_usd !== null)
  const layers = new Map<string, number>()
  for (const row of priced)
    for (const [layer, dollars] of Object.entries(row.cost_by_layer))
      layers.set(layer, (layers.get(layer) ?? 0) + dollars / priced.length)
  return Object.fromEntries(layers)
}
