import type { PooledRow } from 'palimpsest/replay'

export interface ReportColumn {
  readonly title: string
  readonly width: number
  readonly show: (row: PooledRow) => string
}

type Figure = Exclude<
  keyof PooledRow,
  | 'strategy'
  | 'at'
  | 'ci'
  | 'p10'
  | 'cost_by_layer'
  | 'engine_text_red'
  | 'sessions'
  | 'sessions_acted'
  | 'projects'
>

const cost = percentColumn('cost', 'cost_ratio', 4)
const hit = percentColumn('hit', 'cache_hit_rate', 3)
const breaks = wholeColumn('brk', 'breaks', 3)
const compactions = wholeColumn('cmp', 'compactions', 3)
/** Rounded up: one refused request in one session must show. */
const invalid: ReportColumn = {
  title: 'inv',
  width: 3,
  show: (row) => (row.invalid_requests === null ? '-' : String(Math.ceil(row.invalid_requests))),
}
const peak = thousandsColumn('peak', 'peak_tokens', 4)
/** A red row is also marked without colors. */
const madeText: ReportColumn = {
  title: 'made',
  width: 4,
  show: (row) => `${percentOf(row.engine_text_share)}${row.engine_text_red ? '!' : ''}`,
}
const recall = [
  shareColumn('line', 'frr_line'),
  shareColumn('edit', 'edit_line'),
  shareColumn('whole', 'edit_whole'),
]
const errors = shareColumn('err', 'unresolved_errors')
const user = shareColumn('user', 'user_words')
const paths = shareColumn('path', 'modified_path_recall')

/** Fits into 80 columns, including the name. */
export const narrowColumns: readonly ReportColumn[] = [
  cost,
  hit,
  breaks,
  compactions,
  peak,
  invalid,
  ...recall,
  errors,
  user,
  paths,
  madeText,
]

export const wideColumns: readonly ReportColumn[] = [
  { title: '$', width: 7, show: (row) => (row.cost_usd === null ? '-' : row.cost_usd.toFixed(2)) },
  cost,
  hit,
  breaks,
  wholeColumn('exp', 'expired', 4),
  thousandsColumn('rewr', 'rewritten_tokens', 6),
  compactions,
  peak,
  invalid,
  wholeColumn('stop', 'stops', 4),
  shareColumn('sole', 'frr_sole'),
  ...recall,
  user,
  shareColumn('proh', 'prohibitions'),
  paths,
  shareColumn('prec', 'modified_path_precision'),
  shareColumn('last', 'last_operation'),
  shareColumn('todo', 'open_todos'),
  errors,
  shareColumn('order', 'order'),
  shareColumn('recov', 'recoverable'),
  thousandsColumn('refet', 'refetch_tokens', 5),
  madeText,
]

function shareColumn(title: string, name: Figure): ReportColumn {
  return { title, width: 5, show: (row) => row[name]?.toFixed(3) ?? '-' }
}

function percentColumn(title: string, name: Figure, width: number): ReportColumn {
  return { title, width, show: (row) => percentOf(row[name]) }
}

function percentOf(value: number | null): string {
  return value === null ? '-' : `${Math.round(value * 100)}%`
}

function wholeColumn(title: string, name: Figure, width: number): ReportColumn {
  return { title, width, show: (row) => row[name]?.toFixed(0) ?? '-' }
}

function thousandsColumn(title: string, name: Figure, width: number): ReportColumn {
  return {
    title,
    width,
    show: (row) => (row[name] === null ? '-' : `${Math.round(row[name] / 1000)}K`),
  }
}
