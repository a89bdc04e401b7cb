import { foundItems, type Picker, type PickItem } from '../input/pick-item.ts'
import type { Editor } from '../input/edit-text.ts'
import { cutLine, line, span, wrapLine, type StyledLine } from '../text/styled-line.ts'
import { cutToWidth, graphemeWidth, splitGraphemes } from '../text/text-width.ts'

// The part of the screen that is redrawn: current activity, input, status. Never higher than the screen.

export interface LiveView {
  /** The line of the answer that is being written. */
  readonly streaming: readonly StyledLine[]
  /** With its seconds; empty if nothing is running. */
  readonly activity: string
  /** The latest output of the running call, below it. */
  readonly printing: readonly StyledLine[]
  readonly queued: readonly string[]
  /** What the question is about, above the list. */
  readonly proposal: readonly StyledLine[]
  readonly picker?: Picker | undefined
  readonly editor: Editor
  readonly completions: readonly string[]
  readonly completion: number
  readonly status: StyledLine
  /** Below the input. */
  readonly agents: readonly StyledLine[]
  readonly hint: string
}

export interface LiveLayout {
  readonly lines: readonly StyledLine[]
  readonly cursor: { readonly row: number; readonly column: number }
}

const QUEUED_MAX = 3
const PICKED_ROWS = 10
const PROMPT = '> '

export function layoutLive(view: LiveView, columns: number, rows: number): LiveLayout {
  const room = Math.max(4, rows - 1)
  const bottom = view.picker ? pickerLines(view, view.picker, columns, room) : inputLines(view, columns, room)
  const above = [
    ...view.streaming,
    ...(view.activity === '' ? [] : [line(cutToWidth(view.activity, columns), 'accent')]),
    ...view.printing,
    ...queuedLines(view.queued, columns),
  ]
  const left = Math.max(0, room - bottom.lines.length)
  const shown = above.slice(Math.max(0, above.length - left))
  const { row, column } = bottom.cursor
  // Parts may have been made for a wider screen. A line that is too long would take two rows, and the row count would be wrong.
  const lines = [...shown, ...bottom.lines].map((spans) => cutLine(spans, columns))
  return { lines, cursor: { row: row + shown.length, column } }
}

function queuedLines(queued: readonly string[], columns: number): readonly StyledLine[] {
  const shown = queued.slice(0, QUEUED_MAX)
  const hidden = queued.length - shown.length
  return [
    ...shown.map((text) =>
      line(cutToWidth(`  queued: ${text.slice(0, columns).replaceAll('\n', ' ')}`, columns), 'dim'),
    ),
    ...(hidden > 0 ? [line(`  and ${hidden} more`, 'dim')] : []),
  ]
}

function inputLines(view: LiveView, columns: number, room: number): LiveLayout {
  const { status, hint, completions, completion } = view
  const most = Math.max(1, Math.floor(room / 2))
  const first = Math.max(0, Math.min(completion - most + 1, completions.length - most))
  const list = completions.slice(first, first + most).map((item, place) => {
    const isChosen = first + place === completion
    return line(cutToWidth(`${isChosen ? '▸' : ' '} ${item}`, columns), isChosen ? 'chosen' : 'dim')
  })
  const foot = hint === '' ? status : line(cutToWidth(hint, columns), 'warning')
  const rule = line('─'.repeat(columns), 'dim')
  // If room is short, the input comes first.
  const agents = list.length > 0 ? [] : view.agents.slice(0, Math.floor(room / 3))
  const input = editorLines(view.editor, columns, Math.max(1, room - list.length - agents.length - 3))
  return {
    lines: [rule, ...input.lines, ...list, ...agents, foot],
    cursor: { row: input.cursor.row + 1, column: input.cursor.column },
  }
}

/** The rows around the cursor, if not all fit. */
export function editorLines(editor: Editor, columns: number, rowsMax: number): LiveLayout {
  const width = Math.max(1, columns - PROMPT.length)
  const rows: string[] = ['']
  let used = 0
  let cursor = { row: 0, column: 0 }
  let at = 0
  for (const piece of splitGraphemes(editor.text)) {
    if (at === editor.cursor) cursor = { row: rows.length - 1, column: used }
    at += piece.length
    if (piece === '\n') {
      rows.push('')
      used = 0
      continue
    }
    const shown = shownPiece(piece)
    const columnsOf = graphemeWidth(shown)
    if (used + columnsOf > width) {
      rows.push('')
      if (cursor.row === rows.length - 2 && cursor.column === used && at - piece.length === editor.cursor)
        cursor = { row: rows.length - 1, column: 0 }
      used = 0
    }
    rows[rows.length - 1] += shown
    used += columnsOf
  }
  if (editor.cursor >= at) cursor = { row: rows.length - 1, column: used }
  const first = Math.max(0, Math.min(cursor.row - rowsMax + 1, rows.length - rowsMax))
  const from = cursor.row < first ? cursor.row : first
  const lines = rows
    .slice(from, from + rowsMax)
    .map((text, place) => [span(from + place === 0 ? PROMPT : '  ', 'accent'), span(text)])
  return { lines, cursor: { row: cursor.row - from, column: cursor.column + PROMPT.length } }
}

const CONTROL = /^\p{Cc}$/u

/** Shows a tab as a space, and other control characters as a mark. */
function shownPiece(piece: string): string {
  if (piece === '\t') return ' '
  return CONTROL.test(piece) ? '?' : piece
}

function pickerLines(view: LiveView, picker: Picker, columns: number, room: number): LiveLayout {
  const found = foundItems(picker)
  const rule = line('─'.repeat(columns), 'dim')
  const title = wrapLine([span(picker.title, 'bold')], columns)
  const search = picker.isSearched ? [line(cutToWidth(`search: ${picker.query}`, columns))] : []
  const fixed = 2 + title.length + search.length
  const blocks = found.map((item, place) => itemLines(item, place === picker.chosen, columns))
  const wanted = Math.max(1, picker.isSearched ? Math.min(3, found.length) : blocks.flat().length)
  const proposal = cutProposal(view.proposal, Math.max(0, room - fixed - wanted))
  const items = aroundChosen(blocks, picker.chosen, Math.max(1, room - fixed - proposal.length))
  const more = items.length < blocks.length ? ` · ${items.length} of ${blocks.length} are shown` : ''
  const lines = [
    rule,
    ...title,
    ...proposal,
    ...search,
    ...(items.length > 0 ? items : [line('  nothing found', 'dim')]),
  ]
  const hasLetters = picker.items.some(({ letter }) => letter !== undefined)
  const keys = picker.isSearched
    ? 'type to search · ↑↓ · Enter · Esc'
    : `↑↓ Enter, or ${hasLetters ? 'the letter' : 'its number'} · Esc`
  const help = `${keys}${more}`
  const searchRow = 1 + title.length + proposal.length
  const cursor = picker.isSearched
    ? { row: searchRow, column: Math.min(columns - 1, 'search: '.length + picker.query.length) }
    : { row: lines.length, column: 0 }
  return { lines: [...lines, line(cutToWidth(help, columns), 'dim')], cursor }
}

/** An item with a detail is shown whole: it says what will be allowed. */
function itemLines(
  { label, detail, letter }: PickItem,
  isChosen: boolean,
  columns: number,
): readonly StyledLine[] {
  const text = `${isChosen ? '▸' : ' '} ${letter === undefined ? '' : `(${letter}) `}${label}`
  const style = isChosen ? 'chosen' : 'plain'
  if (detail === undefined) return [line(cutToWidth(text, columns), style)]
  const hang = line(DETAIL_HANG)
  return [
    ...wrapLine([span(text, style)], columns, hang),
    ...wrapLine([span(DETAIL_HANG), span(detail, 'dim')], columns, hang),
  ]
}

const DETAIL_HANG = '      '

/** The user must see that there is more. */
function cutProposal(proposal: readonly StyledLine[], room: number): readonly StyledLine[] {
  if (proposal.length <= room) return proposal
  const shown = Math.max(0, room - 1)
  return [...proposal.slice(0, shown), line(`    … ${proposal.length - shown} more lines`, 'dim')].slice(
    0,
    room,
  )
}

/** As many items as fit, the chosen one among them. */
function aroundChosen(
  blocks: readonly (readonly StyledLine[])[],
  chosen: number,
  room: number,
): readonly StyledLine[] {
  const most = Math.min(Math.max(PICKED_ROWS, Math.floor(room / 2)), room)
  const first = Math.max(0, Math.min(chosen - Math.floor(most / 2), blocks.length - most))
  const shown = blocks.slice(first, first + most).flat()
  const start = blocks.slice(first, chosen).flat().length
  const from = Math.max(0, Math.min(start, shown.length - room))
  return shown.slice(from, from + room)
}
