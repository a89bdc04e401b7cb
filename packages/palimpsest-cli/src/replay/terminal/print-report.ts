import type { PooledRow } from 'palimpsest/replay'

import { toPrintable } from '../../agent/printable.ts'
import { isAblation, isControl, OWN, SIZED_CONTROLS } from '../compared.ts'
import type { ReplayDocument } from '../replay-document.ts'
import { reportRemarks } from '../report-remarks.ts'
import { printChart } from './print-chart.ts'
import { printMostExpensive } from './print-most-expensive.ts'
import { printAblation, printPaired } from './print-paired.ts'
import { printVerdict } from './print-verdict.ts'
import { narrowColumns, wideColumns, type ReportColumn } from './report-columns.ts'
import { line, padName, styled, type TerminalOptions } from './terminal-style.ts'

// The report for a terminal. Per window: what each strategy costs and keeps, ours against the others, the course of one session and its
// most expensive steps; then the worst tenth and the intervals, then the controls at each strategy's own token count.

/** From this width on every column fits. */
const WIDE_COLUMNS = 130

const CONTROL_COLUMNS = ['frr_sole', 'frr_line', 'edit_line'] as const
/** Three figures of three characters. */
const CONTROL_WIDTH = 11
const INTERVAL_COLUMNS = ['cost_ratio', 'frr_sole', 'frr_line', 'edit_line'] as const

/** The result, for someone who sees a replay for the first time. */
export function printSummary(document: ReplayDocument, options: TerminalOptions): string {
  const remarks = reportRemarks(document.report).map((remark) => `${toPrintable(remark)}\n`)
  return [
    printVerdict(document, options),
    ...remarks,
    'Every strategy and figure: --details, or --html FILE as a page.\n',
  ].join('\n')
}

export function printReport(document: ReplayDocument, options: TerminalOptions): string {
  const { report } = document
  const { sessions } = report
  const steps = sessions.reduce((sum, session) => sum + session.steps, 0)
  return [
    printVerdict(document, options),
    `${count(sessions.length, 'session')}, ${count(steps, 'step')}. Means over sessions, with equal weights.\n`,
    ...report.windows.map(({ window }) => printWindow(document, window, options)),
    ...reportRemarks(report).map((remark) => `${toPrintable(remark)}\n`),
    'What the columns mean and what they cannot say: docs/replay.md\n',
  ].join('\n')
}

function printWindow(document: ReplayDocument, window: number, options: TerminalOptions): string {
  const { report, paired, charted, mostExpensive } = document
  const strategies = report.windows.find((one) => one.window === window)?.strategies ?? []
  const own = strategies.filter((row) => row.at === undefined)
  // Ablations appear by the part they lack, if the report has the complete strategy.
  const apart = own.some((row) => row.strategy === OWN)
  const isMain = ({ strategy }: { readonly strategy: string }): boolean => !apart || !isAblation(strategy)
  const main = own.filter(isMain)
  const managed = main.filter((row) => row.cache_hit_rate !== null)
  const against = paired.find((one) => one.window === window)?.rows ?? []
  const columns = options.columns >= WIDE_COLUMNS ? wideColumns : narrowColumns
  return [
    styled(`Window ${window.toLocaleString('en-US')} tokens`, 'bold', options),
    line(
      'strategy',
      columns.map(({ title, width }) => title.padStart(width)),
    ),
    ...main.map((row) => printRow(row, columns, options)),
    ...(main.some(isControl) ? ['In brackets: a control, which judges the measure and is no strategy.'] : []),
    '',
    ...printPaired(
      against.filter((row) => !isAblation(row.against)),
      options,
    ),
    ...printAblation(
      against.filter((row) => isAblation(row.against)),
      options,
    ),
    ...(charted ? printChart({ ...charted, traces: charted.traces.filter(isMain) }, window, options) : []),
    ...printMostExpensive(
      mostExpensive.filter((one) => one.window === window && isMain(one)),
      options,
    ),
    ...printLayers(managed, options),
    ...printSpread(managed, options),
    '',
    ...printControls(managed, strategies, options),
    '',
  ].join('\n')
}

function printRow(row: PooledRow, columns: readonly ReportColumn[], options: TerminalOptions): string {
  const text = line(
    isControl(row) ? `(${row.strategy})` : row.strategy,
    columns.map(({ show, width }) => show(row).padStart(width)),
  )
  if (row.engine_text_red) return styled(text, 'red', options)
  return row.strategy === OWN ? styled(text, 'bold', options) : text
}

/** Where the dollars went, for strategies that also make their own model calls. */
function printLayers(rows: readonly PooledRow[], options: TerminalOptions): string[] {
  const several = rows.filter((row) => Object.keys(row.cost_by_layer).length > 1)
  if (several.length === 0) return []
  return [
    styled('Dollars by layer, mean of a session', 'bold', options),
    ...several.flatMap((row) =>
      Object.entries(row.cost_by_layer).map(([layer, dollars], index) =>
        line(index === 0 ? row.strategy : '', [dollars.toFixed(2).padStart(7), layer]),
      ),
    ),
    '',
  ]
}

function printSpread(rows: readonly PooledRow[], options: TerminalOptions): string[] {
  const worst = ['frr_sole', 'frr_line', 'edit_line', 'user_words'] as const
  return [
    styled(`${padName('')}worst tenth of sessions   95% interval`, 'bold', options),
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
  options: TerminalOptions,
): string[] {
  const titles = SIZED_CONTROLS.map((name) => name.slice(0, CONTROL_WIDTH).padEnd(CONTROL_WIDTH))
  return [
    styled("Controls at each strategy's own token count: sole, line, edit", 'bold', options),
    line('', titles),
    ...rows
      .filter((row) => row.strategy !== 'none')
      .map((row) =>
        line(
          row.strategy,
          SIZED_CONTROLS.map((name) => {
            const control = all.find((one) => one.at === row.strategy && one.strategy === name)
            return CONTROL_COLUMNS.map((column) => share(control?.[column])).join(' ')
          }),
        ),
      ),
  ]
}

/** Three characters: `.87`, or `1.0` if everything is kept. */
function share(value: number | null | undefined): string {
  if (value === null || value === undefined) return '  -'
  const text = value.toFixed(2)
  return text.startsWith('0') ? text.slice(1) : value === 1 ? '1.0' : '.99'
}

function interval(row: PooledRow, column: (typeof INTERVAL_COLUMNS)[number]): string {
  const bounds = row.ci[column]
  // One session has no spread.
  if (!bounds || row.sessions < 2) return '-'
  if (column === 'cost_ratio') return `${percent(bounds.low)}–${percent(bounds.high)}`
  return `${share(bounds.low)}–${share(bounds.high)}`
}

function percent(value: number): string {
  return `${Math.round(value * 100)}%`
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en-US')} ${noun}${number === 1 ? '' : 's'}`
}
