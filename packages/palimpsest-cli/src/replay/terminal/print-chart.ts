import type { Trace } from 'palimpsest/replay'

import { toPrintable } from '../../agent/printable.ts'
import { OWN } from '../compared.ts'
import type { ChartedSession } from '../replay-document.ts'
import {
  endOf,
  NAME_WIDTH,
  padName,
  PROSE_COLUMNS_MAX,
  styled,
  type TerminalOptions,
} from './terminal-style.ts'

// How large the requests of one session were, step by step: ours with an axis, each other strategy in one line, all at the same scale.

const EIGHTHS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const
const LEVELS = EIGHTHS.length - 1
const AXIS_ROWS = 6
const MARKS = { none: ' ', edit: '·', compaction: '▲' } as const
/** Room for `151 edits` or `12 comp.` after a line. */
const COUNT_WIDTH = 10
const SESSION_CHARS_MAX = 44

export function printChart(
  { session, steps, traces }: ChartedSession,
  window: number,
  options: TerminalOptions,
): string[] {
  const shown = traces.filter((trace) => trace.window === window)
  if (shown.length === 0) return []
  const columns = Math.min(options.columns, PROSE_COLUMNS_MAX)
  const width = Math.min(columns - NAME_WIDTH - COUNT_WIDTH, steps)
  const main = shown.find(({ strategy }) => strategy === OWN) ?? shown.at(-1)
  const others = shown.filter((trace) => trace !== main)
  const name = endOf(toPrintable(session).replaceAll('\n', ' '), SESSION_CHARS_MAX)
  return [
    styled(`Size of each request: ${name}, ${steps} steps`, 'bold', options),
    ...(main ? printTall(toColumns(main, width), main, { window, options }) : []),
    `${padName('')}${MARKS.edit} edit   ${MARKS.compaction} compaction`,
    '',
    ...(others.length > 0
      ? [`${padName('')}one line each: █ is ${thousands(window)} or more, then the peak`]
      : []),
    ...others.flatMap((trace) => printFlat(toColumns(trace, width), trace, { window, options })),
    '',
  ]
}

interface ChartColumn {
  /** The largest request of the steps that share the column. */
  readonly tokens: number
  readonly act: keyof typeof MARKS
}

interface Scale {
  readonly window: number
  readonly options: TerminalOptions
}

function toColumns({ requests }: Trace, width: number): readonly ChartColumn[] {
  return Array.from({ length: width }, (_, column) => {
    const from = Math.floor((column * requests.length) / width)
    const to = Math.max(from + 1, Math.floor(((column + 1) * requests.length) / width))
    const steps = requests.slice(from, to)
    const acts = steps.map(({ act }) => act)
    return {
      tokens: Math.max(...steps.map(({ promptTokens }) => promptTokens)),
      act: acts.includes('compaction') ? 'compaction' : acts.includes('edit') ? 'edit' : 'none',
    }
  })
}

function printTall(columns: readonly ChartColumn[], trace: Trace, { window, options }: Scale): string[] {
  const rows = Array.from({ length: AXIS_ROWS }, (_, index) => {
    const below = AXIS_ROWS - 1 - index
    const bars = columns.map(({ tokens }) => barOf((tokens / window) * AXIS_ROWS - below)).join('')
    const label = index === 0 ? thousands(window) : below === 0 ? '0' : ''
    const name = index === 1 ? trace.strategy : ''
    return `${name.padEnd(NAME_WIDTH - 1 - label.length)}${label} ${bars}`.trimEnd()
  })
  return [...rows, marksOf(columns, trace, options)]
}

function printFlat(columns: readonly ChartColumn[], trace: Trace, { window, options }: Scale): string[] {
  const bars = columns.map(({ tokens }) => barOf(tokens / window)).join('')
  const peak = Math.max(...trace.requests.map(({ promptTokens }) => promptTokens))
  const first = `${padName(trace.strategy)}${styled(bars, 'dim', options)} ${thousands(peak)}`
  return columns.some(({ act }) => act !== 'none') ? [first, marksOf(columns, trace, options)] : [first]
}

/** A share of one row. Anything above zero shows. */
function barOf(share: number): string {
  if (share <= 0) return EIGHTHS[0]
  return EIGHTHS[Math.min(LEVELS, Math.max(1, Math.round(share * LEVELS)))] ?? EIGHTHS[0]
}

function marksOf(columns: readonly ChartColumn[], { requests }: Trace, options: TerminalOptions): string {
  const marks = columns.map(({ act }) => MARKS[act]).join('')
  const count = (act: string): number => requests.filter((request) => request.act === act).length
  const [edits, compactions] = [count('edit'), count('compaction')]
  const counts = [...(edits > 0 ? [`${edits}·`] : []), ...(compactions > 0 ? [`${compactions}▲`] : [])].join(
    ' ',
  )
  return `${padName('')}${styled(marks, 'yellow', options)} ${counts}`.trimEnd()
}

function thousands(tokens: number): string {
  return `${Math.round(tokens / 1000)}K`
}
