import { inlineSpans } from './inline-spans.ts'
import { lineWidth, span, wrapLine, type Span, type StyledLine } from './styled-line.ts'

// A Markdown table with aligned columns. Text that is too wide wraps inside its cell.

type Align = 'left' | 'right' | 'center'

const ROW = /^\s*\|/
const DELIMITER_CELL = /^:?-+:?$/
const GAP = '  '
/** A narrower cell is useless: the rows are shown as written. */
const CELL_COLUMNS_MIN = 6

export function isTableRow(text: string): boolean {
  return ROW.test(text)
}

export function isDelimiterRow(text: string): boolean {
  const cells = splitRow(text)
  return cells.length > 0 && cells.every((cell) => DELIMITER_CELL.test(cell))
}

/** Rows as written, head and delimiter first. Undefined: the table does not fit. */
export function tableLines(rows: readonly string[], columns: number): readonly StyledLine[] | undefined {
  const [head = '', delimiter = '', ...body] = rows
  const aligns = splitRow(delimiter).map(alignOf)
  if (aligns.length * (1 + GAP.length) > columns) return undefined
  const cells = [head, ...body].map((row, place) => {
    const texts = splitRow(row)
    return aligns.map((_, column) => inlineSpans(texts[column] ?? '', place === 0 ? 'bold' : 'plain'))
  })
  const wanted = aligns.map((_, column) => Math.max(1, ...cells.map((row) => lineWidth(row[column] ?? []))))
  const widths = fitWidths(wanted, columns - GAP.length * (wanted.length - 1))
  if (!widths) return undefined
  const rule = [span(widths.map((width) => '─'.repeat(width)).join(GAP), 'dim')]
  const drawn = cells.map((row) => drawRow(row, widths, aligns))
  return [...(drawn[0] ?? []), rule, ...drawn.slice(1).flat()]
}

/** A column that fits in its fair share keeps its width; the others share the rest. */
function fitWidths(wanted: readonly number[], room: number): readonly number[] | undefined {
  const widths = new Map<number, number>()
  const open = wanted.map((width, column) => ({ width, column })).toSorted((a, b) => a.width - b.width)
  let left = room
  for (const [place, { width, column }] of open.entries()) {
    const share = Math.floor(left / (open.length - place))
    const given = Math.min(width, share)
    if (given < width && given < CELL_COLUMNS_MIN) return undefined
    widths.set(column, given)
    left -= given
  }
  return wanted.map((_, column) => widths.get(column) ?? 1)
}

function drawRow(
  row: readonly (readonly Span[])[],
  widths: readonly number[],
  aligns: readonly Align[],
): readonly StyledLine[] {
  const wrapped = row.map((cell, column) => wrapLine(cell, widths[column] ?? 1))
  const height = Math.max(1, ...wrapped.map(({ length }) => length))
  return Array.from({ length: height }, (_, at) =>
    wrapped.flatMap((lines, column) => {
      const isLast = column === wrapped.length - 1
      const padded = pad(lines[at] ?? [], widths[column] ?? 1, aligns[column] ?? 'left', isLast)
      return isLast ? padded : [...padded, span(GAP)]
    }),
  )
}

function pad(cell: StyledLine, width: number, align: Align, isLast: boolean): StyledLine {
  const room = Math.max(0, width - lineWidth(cell))
  const before = align === 'right' ? room : align === 'center' ? Math.floor(room / 2) : 0
  const after = isLast ? 0 : room - before
  return [
    ...(before > 0 ? [span(' '.repeat(before))] : []),
    ...cell,
    ...(after > 0 ? [span(' '.repeat(after))] : []),
  ]
}

/** A bar after a backslash, or inside code, belongs to its cell. */
function splitRow(text: string): readonly string[] {
  const inner = text.trim().replace(/^\|/, '')
  const cells: string[] = []
  let cell = ''
  let isCode = false
  for (let at = 0; at < inner.length; at++) {
    const sign = inner.charAt(at)
    if (sign === '\\' && inner[at + 1] === '|') {
      cell += '|'
      at++
      continue
    }
    if (sign === '`') isCode = !isCode
    if (sign === '|' && !isCode) {
      cells.push(cell.trim())
      cell = ''
    } else cell += sign
  }
  return cell.trim() === '' ? cells : [...cells, cell.trim()]
}

function alignOf(delimiter: string): Align {
  if (!delimiter.endsWith(':')) return 'left'
  return delimiter.startsWith(':') ? 'center' : 'right'
}
