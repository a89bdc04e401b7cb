import { graphemeWidth, splitGraphemes } from '../../packages/palimpsest-cli/src/tui/text/text-width.ts'

// A terminal, as far as the command uses one: what is written to it becomes a screen. test/tui/inside.heavy.test.ts compares it with tmux.

export interface TextScreen {
  readonly write: (text: string) => void
  /** What stands on it, without the empty lines below. */
  readonly shown: () => string
  /** The other screen is on: the one without scrollback. */
  readonly isOther: () => boolean
  readonly resize: (columns: number, rows: number) => void
}

interface Cells {
  /** Above what is seen, too: the newest rows are on the screen. */
  rows: string[][]
  row: number
  column: number
}

interface Size {
  columns: number
  rows: number
}

// eslint-disable-next-line no-control-regex -- escape sequences begin with it
const PIECE = /\x1b\][^\x07]*\x07|\x1b\[([\d;:<=>?]*)([@-~])|[\r\n\x07]|[^\x1b\r\n\x07]+/g

export function createTextScreen(columns: number, rows: number): TextScreen {
  const size: Size = { columns, rows }
  const own = emptyCells()
  let other: Cells | undefined
  const cells = (): Cells => other ?? own
  return {
    write: (text) => {
      for (const [piece, parameters = '', letter] of text.matchAll(PIECE)) {
        if (letter === undefined) put(piece, cells(), size)
        else if (parameters === '?1049') other = letter === 'h' ? emptyCells() : undefined
        else obey(letter, Number(parameters || '1'), cells(), size)
      }
    },
    shown: () =>
      seenOf(cells(), size)
        .map((row) => row.join('').trimEnd())
        .join('\n')
        .trimEnd(),
    isOther: () => other !== undefined,
    resize: (columnsNow, rowsNow) => {
      // Lines are broken anew by real ones; the command draws its part again, and no test looks at the rest.
      size.columns = columnsNow
      size.rows = rowsNow
    },
  }
}

function emptyCells(): Cells {
  return { rows: [[]], row: 0, column: 0 }
}

function topOf({ rows }: Cells, size: Size): number {
  return Math.max(0, rows.length - size.rows)
}

function seenOf(cells: Cells, size: Size): readonly (readonly string[])[] {
  return cells.rows.slice(topOf(cells, size))
}

function put(piece: string, cells: Cells, size: Size): void {
  if (piece === '\r') cells.column = 0
  else if (piece === '\n') moveDown(cells)
  else if (!piece.startsWith('\x1b') && piece !== '\x07') putText(piece, cells, size)
}

/** Below the last row there is another one, and the first leaves the screen. */
function moveDown(cells: Cells): void {
  cells.row++
  if (cells.row === cells.rows.length) cells.rows.push([])
}

function putText(text: string, cells: Cells, { columns }: Size): void {
  for (const character of splitGraphemes(text)) {
    const width = graphemeWidth(character)
    if (cells.column + width > columns) {
      moveDown(cells)
      cells.column = 0
    }
    const row = cells.rows[cells.row] ?? []
    while (row.length < cells.column) row.push(' ')
    // Behind a wide one comes a cell that is part of it.
    row.splice(cells.column, width, character, ...Array.from({ length: width - 1 }, () => ''))
    cells.column += width
  }
}

function obey(letter: string, count: number, cells: Cells, size: Size): void {
  switch (letter) {
    case 'A':
      cells.row = Math.max(topOf(cells, size), cells.row - count)
      break
    case 'B':
      cells.row = Math.min(cells.rows.length - 1, cells.row + count)
      break
    case 'C':
      cells.column = Math.min(size.columns - 1, cells.column + count)
      break
    case 'H':
      cells.row = topOf(cells, size)
      cells.column = 0
      break
    case 'K':
      cells.rows[cells.row]?.splice(cells.column)
      break
    case 'J':
      cells.rows[cells.row]?.splice(cells.column)
      cells.rows.splice(cells.row + 1)
      break
    default:
  }
}
