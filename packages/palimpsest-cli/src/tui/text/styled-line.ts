import { cutToWidth, graphemeWidth, splitGraphemes, textWidth } from './text-width.ts'

// A line of the screen before any terminal sees it: pieces of text, each named by what it is. Colors come last, and only if there are any;
// a sign or the words always make the same distinction.

export const STYLES = [
  'plain',
  'bold',
  'dim',
  'italic',
  'heading',
  'code',
  'keyword',
  'string',
  'comment',
  'number',
  'added',
  'removed',
  'warning',
  'error',
  'accent',
  'chosen',
] as const
export type Style = (typeof STYLES)[number]

export interface Span {
  readonly text: string
  readonly style: Style
}
export type StyledLine = readonly Span[]

export function span(text: string, style: Style = 'plain'): Span {
  return { text, style }
}

export function line(text: string, style: Style = 'plain'): StyledLine {
  return [span(text, style)]
}

export function lineText(spans: StyledLine): string {
  return spans.map(({ text }) => text).join('')
}

export function lineWidth(spans: StyledLine): number {
  return spans.reduce((sum, { text }) => sum + textWidth(text), 0)
}

/** As much of the line as fits. */
export function cutLine(spans: StyledLine, columns: number): StyledLine {
  if (lineWidth(spans) <= columns) return spans
  const kept: Span[] = []
  let room = columns
  for (const { text, style } of spans) {
    const cut = cutToWidth(text, room)
    kept.push({ text: cut, style })
    room -= textWidth(cut)
    if (cut !== text) break
  }
  return kept
}

/** Select Graphic Rendition codes, by style. Uses the sixteen colors that every terminal theme adapts. */
const CODES: { readonly [style in Style]: string } = {
  plain: '',
  bold: '1',
  dim: '2',
  italic: '3',
  heading: '1;36',
  code: '36',
  keyword: '35',
  string: '32',
  comment: '2;3',
  number: '33',
  added: '32',
  removed: '31',
  warning: '33',
  error: '31',
  accent: '36',
  chosen: '7',
}

/** The line as the terminal receives it. Its texts must be printable already. */
export function paintLine(spans: StyledLine, hasColour: boolean): string {
  if (!hasColour) return lineText(spans)
  return spans
    .map(({ text, style }) => (CODES[style] === '' ? text : `\x1b[${CODES[style]}m${text}\x1b[0m`))
    .join('')
}

const TAB_COLUMNS = 4

/** Breaks a line at spaces if possible, otherwise anywhere. Later lines begin with `hang`. */
export function wrapLine(spans: StyledLine, columns: number, hang: StyledLine = []): readonly StyledLine[] {
  const width = Math.max(1, columns)
  if (lineWidth(spans) <= width && !spans.some(({ text }) => text.includes('\t'))) return [spans]
  // Text carried over after a space takes up to two thirds of the next line, so a wider hang would leave it no room.
  const indent = lineWidth(hang) < width / 3 ? hang : []
  const lines: StyledLine[] = []
  let current: Cell[] = []
  let used = 0
  for (const cell of cellsOf(spans)) {
    if (used + cell.width > width && current.length > 0) {
      const cut = breakPlace(current)
      lines.push(toSpans(current.slice(0, cut)))
      const rest = current.slice(cut)
      current = [...cellsOf(indent), ...(rest[0]?.text === ' ' ? rest.slice(1) : rest)]
      used = current.reduce((sum, { width }) => sum + width, 0)
      if (used + cell.width > width) {
        // The text carried over fills a line by itself.
        if (rest.length > 0) lines.push(toSpans(current))
        ;[current, used] = [[...cellsOf(indent)], lineWidth(indent)]
      }
      if (cell.text === ' ' && rest.length === 0) continue
    }
    current.push(cell)
    used += cell.width
  }
  return [...lines, toSpans(current)]
}

interface Cell extends Span {
  readonly width: number
}

function cellsOf(spans: StyledLine): readonly Cell[] {
  return spans.flatMap(({ text, style }) =>
    splitGraphemes(text.replaceAll('\t', ' '.repeat(TAB_COLUMNS))).map((piece) => ({
      text: piece,
      style,
      width: graphemeWidth(piece),
    })),
  )
}

/** After the last space, unless that leaves next to nothing on the line. */
function breakPlace(cells: readonly Cell[]): number {
  const space = cells.findLastIndex(({ text }) => text === ' ')
  return space > cells.length / 3 ? space + 1 : cells.length
}

function toSpans(cells: readonly Cell[]): StyledLine {
  const spans: Span[] = []
  for (const { text, style } of cells) {
    const last = spans.at(-1)
    if (last?.style === style) spans[spans.length - 1] = { text: last.text + text, style }
    else spans.push({ text, style })
  }
  const end = spans.at(-1)
  if (end && spans.length > 0) spans[spans.length - 1] = { ...end, text: end.text.replace(/(?<! ) +$/, '') }
  return spans
}
