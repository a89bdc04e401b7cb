// Goes from one state of the live region to the next with as few bytes as possible. Lines that stay go above it, into the terminal's own
// scrollback, and are never touched again: the work per frame does not depend on how much was said before.

export interface Frame {
  /** Painted. */
  readonly lines: readonly string[]
  /** Columns that each line takes. */
  readonly widths: readonly number[]
  readonly cursor: { readonly row: number; readonly column: number }
}

export const NO_FRAME: Frame = { lines: [''], widths: [0], cursor: { row: 0, column: 0 } }

const HIDE = '\x1b[?25l'
const SHOW = '\x1b[?25h'
/** Terminals that support it show nothing of what comes in between; others ignore it. */
const SYNC_START = '\x1b[?2026h'
const SYNC_END = '\x1b[?2026l'
const CLEAR_LINE = '\x1b[K'
const CLEAR_BELOW = '\x1b[J'

/** The cursor is where `before` says, and afterwards where `after` says. */
export function drawFrame(before: Frame, added: readonly string[], after: Frame): string {
  const body = added.length > 0 ? replaceAll(before, added, after) : changeLines(before, after)
  return body === '' ? '' : `${SYNC_START}${HIDE}${body}${SHOW}${SYNC_END}`
}

/** Rows above the cursor after a change of width, when the terminal has wrapped the lines again. */
export function rowsAbove({ widths, cursor }: Frame, columns: number): number {
  const rowsOf = (width: number): number => Math.max(1, Math.ceil(width / columns))
  const above = widths.slice(0, cursor.row).reduce((sum, width) => sum + rowsOf(width), 0)
  return above + Math.floor(cursor.column / columns)
}

/** Clears everything from the given row down, and draws the frame there. */
export function drawAgain(rowsUp: number, after: Frame): string {
  return `${SYNC_START}${HIDE}${upBy(rowsUp)}\r${CLEAR_BELOW}${after.lines.join('\r\n')}${placeCursor(after.lines.length - 1, after)}${SHOW}${SYNC_END}`
}

/** A screen drawn as a whole: as many lines as it has rows. */
export function drawPage(lines: readonly string[]): string {
  return `${SYNC_START}${HIDE}\x1b[H${lines.map((text) => `${text}${CLEAR_LINE}`).join('\r\n')}${SYNC_END}`
}

function replaceAll(before: Frame, added: readonly string[], after: Frame): string {
  const lines = [...added, ...after.lines].map((text) => `${text}${CLEAR_LINE}`)
  return `${upBy(before.cursor.row)}\r${lines.join('\r\n')}${CLEAR_BELOW}${placeCursor(after.lines.length - 1, after)}`
}

function changeLines(before: Frame, after: Frame): string {
  let text = ''
  let row = before.cursor.row
  for (const [place, content] of after.lines.entries()) {
    if (before.lines[place] === content) continue
    // Below the last row there is nothing to move to yet; line feeds create it.
    const known = Math.min(place, Math.max(before.lines.length - 1, row))
    text += `${moveBy(known - row)}${'\r\n'.repeat(place - known)}\r${content}${CLEAR_LINE}`
    row = place
  }
  if (before.lines.length > after.lines.length) {
    const last = after.lines.length - 1
    text += `${moveBy(last - row)}\r${after.lines[last] ?? ''}${CLEAR_BELOW}`
    row = last
  }
  const isStill = before.cursor.row === after.cursor.row && before.cursor.column === after.cursor.column
  return text === '' && isStill ? '' : text + placeCursor(row, after)
}

function placeCursor(row: number, { cursor }: Frame): string {
  return `${moveBy(cursor.row - row)}\r${cursor.column > 0 ? `\x1b[${cursor.column}C` : ''}`
}

function moveBy(rows: number): string {
  return rows < 0 ? upBy(-rows) : rows > 0 ? `\x1b[${rows}B` : ''
}

function upBy(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : ''
}
