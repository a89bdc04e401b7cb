import { toPrintable } from '../../agent/printable.ts'
import { highlightCode } from './highlight-code.ts'
import { inlineSpans } from './inline-spans.ts'
import { line, span, wrapLine, type StyledLine } from './styled-line.ts'
import { isDelimiterRow, isTableRow, tableLines } from './table-lines.ts'

// Markdown as it arrives, line by line. A complete line is drawn only once, so a long answer costs no more than its newest line. A table is
// drawn after its last row; an underlined heading is shown as written.

export interface MarkdownState {
  /** Set inside a code block. */
  readonly fence?: { readonly mark: string; readonly language: string }
  /** The line that is not complete yet, or what is left of it. */
  readonly rest: string
  /** The beginning of that line is drawn already. */
  readonly isCut?: boolean
  /** Rows of a table that may not be complete yet. */
  readonly table?: readonly string[]
}

/** A longer line is drawn in independent pieces: a line like that is data. A screen holds a few pieces at most. */
export const PIECE_CHARS_MAX = 4_000

export const MARKDOWN_START: MarkdownState = { rest: '' }

export interface FedMarkdown {
  readonly state: MarkdownState
  readonly lines: readonly StyledLine[]
}

/** Adds text, and draws the lines that it completes. */
export function feedMarkdown(state: MarkdownState, text: string, columns: number): FedMarkdown {
  const parts = (state.rest + text).split('\n')
  const last = parts.length - 1
  const lines: StyledLine[] = []
  let current = state
  for (const [place, part] of parts.entries()) {
    let rest = part
    for (let end = pieceEnd(rest); end !== undefined; end = pieceEnd(rest)) {
      const drawn = drawPiece(current, rest.slice(0, end), columns)
      lines.push(...drawn.lines)
      current = { ...drawn.state, isCut: true }
      rest = rest.slice(end)
    }
    if (place === last) return { state: { ...current, rest }, lines }
    const drawn = drawPiece(current, rest, columns)
    lines.push(...drawn.lines)
    current = { ...drawn.state, isCut: false }
  }
  return { state: current, lines }
}

/** The text has ended: draws the rest. */
export function endMarkdown(state: MarkdownState, columns: number): readonly StyledLine[] {
  if (state.rest === '') return flushTable(state, columns).lines
  const { state: after, lines } = drawPiece(state, state.rest, columns)
  return [...lines, ...flushTable(after, columns).lines]
}

export function markdownLines(text: string, columns: number): readonly StyledLine[] {
  const { state, lines } = feedMarkdown(MARKDOWN_START, text, columns)
  return [...lines, ...endMarkdown(state, columns)]
}

/** Where to cut a line that is too long to draw at once: after a space if there is one, and never inside a character. */
function pieceEnd(text: string): number | undefined {
  if (text.length <= PIECE_CHARS_MAX) return undefined
  const space = text.lastIndexOf(' ', PIECE_CHARS_MAX - 1)
  if (space > PIECE_CHARS_MAX / 2) return space + 1
  return isHalf(text.charCodeAt(PIECE_CHARS_MAX - 1)) ? PIECE_CHARS_MAX - 1 : PIECE_CHARS_MAX
}

function isHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

const FENCE = /^\s*(`{3,}|~{3,})\s*([\w+#.-]*)/
const HEADING = /^#{1,6}\s/
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s/
const TASK = /^\[( |x|X)\]\s/
const QUOTE = /^\s*>\s?/
const RULE = /^(?:-{3,}|\*{3,}|_{3,})$/
const CODE_INDENT = span('  ')
const RULE_COLUMNS = 24

/** Further rows are drawn as another table, so that the user sees something while waiting. */
const TABLE_ROWS_MAX = 100

/** Rows wait for their table to end; any other line ends it. */
function drawPiece(state: MarkdownState, raw: string, columns: number): FedMarkdown {
  const text = toPrintable(raw.replace(/\r$/, ''))
  const { table = [] } = state
  const isRow = !state.fence && !state.isCut && isTableRow(text)
  if (isRow && table.length < TABLE_ROWS_MAX)
    return { state: { ...state, table: [...table, text] }, lines: [] }
  const flushed = flushTable(state, columns)
  const drawn = isRow
    ? { state: { ...flushed.state, table: [text] }, lines: [] }
    : drawSingle(flushed.state, text, columns)
  return { state: drawn.state, lines: [...flushed.lines, ...drawn.lines] }
}

function flushTable(state: MarkdownState, columns: number): FedMarkdown {
  const { table = [], ...rest } = state
  if (table.length === 0) return { state, lines: [] }
  const isTable = table.length > 1 && isDelimiterRow(table[1] ?? '')
  const lines = isTable ? tableLines(table, columns) : undefined
  return { state: rest, lines: lines ?? table.flatMap((row) => drawText(row, columns)) }
}

function drawSingle(state: MarkdownState, text: string, columns: number): FedMarkdown {
  const { fence } = state
  const opened = state.isCut ? null : FENCE.exec(text)
  if (fence) {
    const closes = opened?.[1]?.startsWith(fence.mark) === true && opened[2] === ''
    if (closes) return { state: { rest: '' }, lines: [line('  ┄', 'dim')] }
    const code = [CODE_INDENT, ...highlightCode(text, fence.language)]
    return { state, lines: wrapLine(code, columns, [CODE_INDENT]) }
  }
  if (opened?.[1] !== undefined) {
    const language = (opened[2] ?? '').toLowerCase()
    const lines = [line(`  ┄ ${language}`.trimEnd(), 'dim')]
    return { state: { rest: '', fence: { mark: opened[1], language } }, lines }
  }
  return { state, lines: state.isCut ? wrapLine(inlineSpans(text), columns) : drawText(text, columns) }
}

function drawText(text: string, columns: number): readonly StyledLine[] {
  if (HEADING.test(text)) return wrapLine([span(headingText(text), 'heading')], columns)
  if (isRule(text)) return [line('─'.repeat(Math.min(RULE_COLUMNS, columns)), 'dim')]
  const item = ITEM.exec(text)
  if (item) return drawItem(item, text.slice(item[0].length).trimStart(), columns)
  const quote = QUOTE.exec(text)
  if (quote) {
    const mark = span('│ ', 'dim')
    return wrapLine([mark, ...inlineSpans(text.slice(quote[0].length), 'italic')], columns, [mark])
  }
  return wrapLine(inlineSpans(text), columns)
}

/** Without the signs before it and, if present, after it. */
function headingText(text: string): string {
  const words = text.replace(/^#+/, '').trim()
  let end = words.length
  while (words[end - 1] === '#') end--
  return words.slice(0, end).trimEnd()
}

function isRule(text: string): boolean {
  return RULE.test(text.replaceAll(/\s/g, ''))
}

function drawItem(
  [, indent = '', mark = '']: RegExpExecArray,
  text: string,
  columns: number,
): readonly StyledLine[] {
  const task = TASK.exec(text)
  const sign = task ? (task[1] === ' ' ? '☐' : '☑') : /\d/.test(mark) ? mark : '•'
  const head = `${indent}${sign} `
  const words = task ? text.slice(task[0].length).trimStart() : text
  return wrapLine([span(head), ...inlineSpans(words)], columns, [span(' '.repeat(head.length))])
}
