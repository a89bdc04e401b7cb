import type { PooledRow, PooledWindow, ReplayReport, SessionReport } from 'palimpsest/replay'

import { narrowColumns, wideColumns, type ReportColumn } from './report-columns.ts'

// The report as a terminal shows it: per window what each strategy costs and keeps, then the worst tenth and the intervals, then the
// controls at each strategy's own token count.

export interface PrintOptions {
  readonly columns: number
  readonly colours: boolean
}

/** From this width on there is room for every column. */
const WIDE_COLUMNS = 130

const NAME_WIDTH = 13
const CONTROLS = ['random', 'soup', 'oracle', 'time-reversed'] as const
const CONTROL_COLUMNS = ['frr_sole', 'frr_related', 'frr_line', 'edit_line'] as const
const INTERVAL_COLUMNS = ['cost_ratio', 'frr_sole', 'frr_line', 'edit_line'] as const

export function printReport(report: ReplayReport, options: PrintOptions): string {
  const { sessions } = report
  const steps = sessions.reduce((sum, session) => sum + session.steps, 0)
  return [
    `${count(sessions.length, 'session')}, ${count(steps, 'step')}. Means over sessions, each weighing the same.\n`,
    ...report.windows.map((window) => printWindow(window, options)),
    ...unreported(report),
    'What the columns mean and what they cannot say: docs/replay.md\n',
  ].join('\n')
}

function printWindow({ window, strategies }: PooledWindow, options: PrintOptions): string {
  const own = strategies.filter((row) => row.at === undefined)
  const managed = own.filter((row) => row.cache_hit_rate !== null)
  const columns = options.columns >= WIDE_COLUMNS ? wideColumns : narrowColumns
  return [
    bold(`Window ${window.toLocaleString('en-US')} tokens`, options),
    line(
      'strategy',
      columns.map(({ title, width }) => title.padStart(width)),
    ),
    ...own.map((row) => printRow(row, columns, options)),
    '',
    ...printLayers(managed, options),
    ...printSpread(managed, options),
    '',
    ...printControls(managed, strategies, options),
    '',
  ].join('\n')
}

function printRow(row: PooledRow, columns: readonly ReportColumn[], options: PrintOptions): string {
  const text = line(
    row.strategy,
    columns.map(({ show, width }) => show(row).padStart(width)),
  )
  return row.engine_text_red ? red(text, options) : text
}

/** Where the dollars went, for strategies that ask a model on their own too. */
function printLayers(rows: readonly PooledRow[], options: PrintOptions): string[] {
  const several = rows.filter((row) => Object.keys(row.cost_by_layer).length > 1)
  if (several.length === 0) return []
  return [
    bold('Dollars by layer, mean of a session', options),
    ...several.flatMap((row) =>
      Object.entries(row.cost_by_layer).map(([layer, dollars], index) =>
        line(index === 0 ? row.strategy : '', [dollars.toFixed(2).padStart(7), layer]),
      ),
    ),
    '',
  ]
}

function printSpread(rows: readonly PooledRow[], options: PrintOptions): string[] {
  const worst = ['frr_sole', 'frr_line', 'edit_line', 'user_words'] as const
  return [
    bold(`${pad('')}worst tenth of sessions   95% interval`, options),
    line('', [...['sole', 'line', 'edit', 'user'].map((title) => title.padStart(5)), ...INTERVAL_TITLES]),
    ...rows.map((row) =>
      line(row.strategy, [
        ...worst.map((column) => share(row.p10[column]).padStart(5)),
        ...INTERVAL_COLUMNS.map((column) => interval(row, column).padStart(10)),
      ]),
    ),
  ]
}

const INTERVAL_TITLES = ['cost', 'sole', 'line', 'edit'].map((title) => title.padStart(10))

function printControls(
  rows: readonly PooledRow[],
  all: readonly PooledRow[],
  options: PrintOptions,
): string[] {
  const titles = CONTROLS.map((name) => name.padEnd(15))
  return [
    bold("Controls at each strategy's own token count: sole, related, line, edit", options),
    line('', titles),
    ...rows
      .filter((row) => row.strategy !== 'none')
      .map((row) =>
        line(
          row.strategy,
          CONTROLS.map((name) => {
            const control = all.find((one) => one.at === row.strategy && one.strategy === name)
            return CONTROL_COLUMNS.map((column) => share(control?.[column])).join(' ')
          }),
        ),
      ),
  ]
}

/** Three characters: `.87`, or `1.0` where all is kept. */
function share(value: number | null | undefined): string {
  if (value === null || value === undefined) return '  -'
  const text = value.toFixed(2)
  return text.startsWith('0') ? text.slice(1) : value === 1 ? '1.0' : '.99'
}

function interval(row: PooledRow, column: (typeof INTERVAL_COLUMNS)[number]): string {
  const bounds = row.ci[column]
  if (!bounds) return '-'
  if (column === 'cost_ratio') return `${percent(bounds.low)}–${percent(bounds.high)}`
  return `${share(bounds.low)}–${share(bounds.high)}`
}

function percent(value: number): string {
  return `${Math.round(value * 100)}%`
}

/** What a reader of the figures must know of single sessions. */
function unreported({ sessions }: ReplayReport): string[] {
  const names = (of: readonly SessionReport[]): string => of.map((session) => session.session).join(', ')
  const without = sessions.filter((session) => !session.usage_reported)
  const isUnpriced = ({ strategies }: SessionReport): boolean =>
    strategies.some((row) => row.strategy === 'none' && row.at === undefined && row.cost_usd === null)
  const unpriced = sessions.filter(isUnpriced)
  const models = [...new Set(unpriced.map((session) => session.model))].join(', ')
  return [
    ...(without.length > 0
      ? [`${names(without)}: no usage is recorded: sizes and costs stand on defaults\n`]
      : []),
    ...(unpriced.length > 0
      ? [`${names(unpriced)}: no price is known for ${models}: left out of the cost columns\n`]
      : []),
  ]
}

function line(name: string, cells: readonly string[]): string {
  return `${pad(name)}${cells.join(' ')}`.trimEnd()
}

function pad(name: string): string {
  return name.padEnd(NAME_WIDTH)
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en-US')} ${noun}${number === 1 ? '' : 's'}`
}

function bold(text: string, { colours }: PrintOptions): string {
  return colours ? `\u001B[1m${text}\u001B[22m` : text
}

function red(text: string, { colours }: PrintOptions): string {
  return colours ? `\u001B[31m${text}\u001B[39m` : text
}
