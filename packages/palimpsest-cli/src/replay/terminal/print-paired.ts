import type { PairedRow } from 'palimpsest/replay'

import { OWN, partName, PAIRED_SESSIONS_MIN, verdictOf, type ComparedColumn } from '../compared.ts'
import { line, styled, wrap, type TerminalOptions } from './terminal-style.ts'

// One strategy compared with each other one, on the same sessions.

const CELL_WIDTH = 21
const NARROW_COLUMNS = 80

/** Ours minus each other. */
export function printPaired(rows: readonly PairedRow[], options: TerminalOptions): string[] {
  if (rows.length === 0) return []
  return [
    styled(
      `${OWN} minus each other strategy on the same sessions${rows.some(({ sessions }) => sessions > 1) ? ', with 95% intervals' : ''}`,
      'bold',
      options,
    ),
    ...wrap(`Cost in points of the unmanaged cost; ${remark(rows)}`, NARROW_COLUMNS),
    ...printDifferences(rows, options, (name) => name),
    '',
  ]
}

function remark(rows: readonly PairedRow[]): string {
  return rows.some(({ sessions }) => sessions >= PAIRED_SESSIONS_MIN)
    ? '+ better and - worse where the interval excludes 0.'
    : `too few sessions to judge by (at least ${PAIRED_SESSIONS_MIN}).`
}

/** Ours minus the same without one part: what the part contributes. */
export function printAblation(rows: readonly PairedRow[], options: TerminalOptions): string[] {
  if (rows.length === 0) return []
  return [
    styled(`What each part contributes: ${OWN} minus ${OWN} without it`, 'bold', options),
    ...printDifferences(rows, options, partName),
    '',
  ]
}

function printDifferences(
  rows: readonly PairedRow[],
  options: TerminalOptions,
  nameOf: (strategy: string) => string,
): string[] {
  return [
    line(
      '',
      ['cost', 'line', 'edit'].map((title) => title.padEnd(CELL_WIDTH)),
    ),
    ...rows.map((row) =>
      line(nameOf(row.against), [
        cell(row, 'cost_ratio', options),
        cell(row, 'frr_line', options),
        cell(row, 'edit_line', options),
      ]),
    ),
  ]
}

function cell(row: PairedRow, column: ComparedColumn, options: TerminalOptions): string {
  const difference = row[column]
  if (!difference) return '-'.padEnd(CELL_WIDTH)
  const { mean, low, high } = difference
  const show = column === 'cost_ratio' ? points : share
  const verdict = verdictOf(row, column)
  // A single session has no spread.
  const spread = row.sessions < 2 ? '' : ` (${show(low)} ${show(high)})${MARKS[verdict]}`
  const text = `${show(mean).padStart(5)}${spread}`.padEnd(CELL_WIDTH)
  if (verdict === 'level') return text
  return styled(text, verdict === 'better' ? 'green' : 'red', options)
}

const MARKS = { better: ' +', worse: ' -', level: '' } as const

const POINTS = 100
const TENTHS_BELOW = 10

/** `-4.2`, or `-47` if tenths do not matter. */
function points(value: number): string {
  const shown = value * POINTS
  return shown.toFixed(Math.abs(shown) < TENTHS_BELOW ? 1 : 0)
}

/** `-.032` */
function share(value: number): string {
  return value.toFixed(3).replace('0.', '.')
}
