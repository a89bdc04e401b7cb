import { sentenceOf } from '../../report-error.ts'
import type { Key } from '../input/decode-keys.ts'
import { cutLine, line, lineText, span, wrapLine, type StyledLine } from '../text/styled-line.ts'
import { cutToWidth } from '../text/text-width.ts'
import type { PageSource } from './page-source.ts'

// A text of any length, one screen at a time. Only what is shown is laid out, so it opens at once.

export interface PagerSize {
  readonly columns: number
  readonly rows: number
}

export interface Pager {
  /** As many lines as the screen has rows; the last one shows the keys. */
  readonly frame: (size: PagerSize, news: string) => Promise<readonly StyledLine[]>
  /** False: close the pager. */
  readonly press: (key: Key, size: PagerSize) => Promise<boolean>
  /** Ends a running search. False: there is none. */
  readonly stop: () => boolean
}

/** A line of a piece. */
interface Place {
  readonly piece: number
  readonly line: number
}

interface PagerState {
  source: PageSource
  /** Set while only the end is available. */
  whole: Promise<void> | undefined
  readonly laid: Map<number, readonly StyledLine[]>
  columns: number
  /** The first line shown; undefined before the first frame. */
  top: Place | undefined
  /** The line found last. */
  found: Place | undefined
  words: string
  /** The search words while they are typed. */
  typing: string | undefined
  note: string
  isSearching: boolean
}

/** Pieces that stay laid out: a few screens around what is shown. */
const LAID_MAX = 200
const KEYS = '↑↓ PgUp PgDn · g top · G end · / search · q back'
const FOUND_KEYS = 'n further up · N further down · q back'

/** `changed` is called when there is more to show than at first. */
export function createPager(source: PageSource, changed: () => void = () => undefined): Pager {
  const state: PagerState = {
    source,
    whole: undefined,
    laid: new Map(),
    columns: 0,
    top: undefined,
    found: undefined,
    words: '',
    typing: undefined,
    note: '',
    isSearching: false,
  }
  state.whole = source.whole?.then(
    (whole) => {
      takeWhole(state, whole)
      changed()
    },
    (error: unknown) => {
      state.whole = undefined
      state.note = `only the end of the file can be read: ${sentenceOf(error)}`
      changed()
    },
  )
  return {
    frame: async (size, news) => await frameOf(state, size, news),
    press: async (key, size) => await press(state, key, size),
    stop: () => {
      const was = state.isSearching
      state.isSearching = false
      return was
    },
  }
}

/** Pieces are counted from the beginning, so those we had have moved down. */
function takeWhole(state: PagerState, whole: PageSource): void {
  const by = whole.count - state.source.count
  const moved = (place: Place | undefined): Place | undefined =>
    place && { piece: place.piece + by, line: place.line }
  state.source = whole
  state.whole = undefined
  state.top = moved(state.top)
  state.found = moved(state.found)
  state.laid.clear()
}

async function frameOf(state: PagerState, size: PagerSize, news: string): Promise<readonly StyledLine[]> {
  const { columns } = size
  const rows = pageRows(size)
  if (state.columns !== columns) state.laid.clear()
  state.columns = columns
  const first = { piece: 0, line: 0 }
  const end = await endPlace(state, rows)
  state.top ??= state.source.opensAtEnd ? end : first
  if (isBefore(end, state.top)) state.top = end
  const shown: StyledLine[] = []
  let at: Place | undefined = await settledPlace(state, state.top)
  while (at && shown.length < rows) {
    const lines = await linesOf(state, at.piece)
    const from = at.line
    const isFound = (place: number): boolean =>
      state.found?.piece === at?.piece && state.found?.line === from + place
    shown.push(
      ...lines
        .slice(from, from + rows - shown.length)
        .map((spans, place) => (isFound(place) ? line(lineText(spans), 'chosen') : spans)),
    )
    at = await settledPlace(state, { piece: at.piece + 1, line: 0 })
  }
  const empty = Array.from({ length: rows - shown.length }, (): StyledLine => [])
  return [...shown, ...empty, footOf(state, columns, news)].map((spans) => cutLine(spans, columns))
}

function footOf(state: PagerState, columns: number, news: string): StyledLine {
  const { source, top, typing, note, found } = state
  if (typing !== undefined) return line(cutToWidth(`/${typing}`, columns), 'accent')
  const share = source.count === 0 ? 100 : Math.round((100 * (top?.piece ?? 0)) / source.count)
  const about = [source.title, `${share}%`].join(' · ')
  const words = note !== '' ? note : news !== '' ? news : found ? FOUND_KEYS : KEYS
  return [span(about, 'bold'), span(cutToWidth(`  ${words}`, Math.max(0, columns - about.length)), 'dim')]
}

async function press(state: PagerState, key: Key, size: PagerSize): Promise<boolean> {
  state.note = ''
  if (state.typing !== undefined) return await typeWords(state, state.typing, key, size)
  const name =
    key.kind === 'key' ? `${key.ctrl ? 'ctrl-' : ''}${key.name}` : key.kind === 'text' ? key.text : ''
  const page = Math.max(1, pageRows(size) - 1)
  if (state.whole && (UPWARDS.has(name) || (state.top?.piece ?? 0) === 0)) await state.whole
  switch (name) {
    case 'q':
    case 'escape':
    case 'ctrl-c':
    case 'ctrl-d':
    case 'ctrl-o':
    case 'ctrl-t':
      return false
    case '/':
      state.typing = ''
      return true
    case 'n':
      return await search(state, -1, size)
    case 'N':
      return await search(state, 1, size)
    case 'g':
    case 'home':
      state.top = { piece: 0, line: 0 }
      return true
    case 'G':
    case 'end':
      state.top = await endPlace(state, pageRows(size))
      return true
    default:
      return await scroll(state, SCROLLS[name]?.(page) ?? 0)
  }
}

/** Keys that need what comes before the end. */
const UPWARDS: ReadonlySet<string> = new Set(['g', 'home', '/', 'n', 'pageup', 'b'])

const SCROLLS: { readonly [name: string]: (page: number) => number } = {
  up: () => -1,
  k: () => -1,
  down: () => 1,
  j: () => 1,
  enter: () => 1,
  pageup: (page) => -page,
  b: (page) => -page,
  pagedown: (page) => page,
  ' ': (page) => page,
}

async function scroll(state: PagerState, by: number): Promise<boolean> {
  const top = state.top ?? { piece: 0, line: 0 }
  // If this goes past the end, the next frame moves back.
  state.top = by < 0 ? await placeBack(state, top, -by) : await placeOn(state, top, by)
  return true
}

async function typeWords(state: PagerState, typed: string, key: Key, size: PagerSize): Promise<boolean> {
  if (key.kind !== 'key') state.typing = typed + key.text.replaceAll('\n', ' ')
  else if (key.name === 'backspace') state.typing = typed === '' ? undefined : typed.slice(0, -1)
  else if (key.name === 'escape' || key.ctrl) state.typing = undefined
  else if (key.name === 'enter') {
    state.typing = undefined
    if (typed !== '') state.words = typed.toLowerCase()
    state.found = undefined
    return await search(state, -1, size)
  }
  return true
}

/** Searches up from what is shown or was found last, or down. */
async function search(state: PagerState, direction: 1 | -1, size: PagerSize): Promise<boolean> {
  const { words, source } = state
  if (words === '') return true
  const top = state.top ?? { piece: 0, line: 0 }
  const start = state.found ?? (direction < 0 ? await placeOn(state, top, pageRows(size)) : top)
  state.isSearching = true
  const last = source.count - 1
  for (let piece = Math.min(start.piece, last); piece >= 0 && piece <= last; piece += direction) {
    if (!isGoingOn(state)) break
    if (!(await source.mayHold(piece, words))) continue
    const lines = await linesOf(state, piece)
    const holds = (spans: StyledLine | undefined, at: number): boolean =>
      spans !== undefined &&
      (piece !== start.piece || (direction < 0 ? at < start.line : at > start.line)) &&
      lineText(spans).toLowerCase().includes(words)
    const at = direction < 0 ? lines.findLastIndex(holds) : lines.findIndex(holds)
    if (at < 0) continue
    state.isSearching = false
    state.found = { piece, line: at }
    state.top = await placeBack(state, state.found, Math.floor(pageRows(size) / 2))
    return true
  }
  state.note = isGoingOn(state)
    ? `"${words}" is not ${direction < 0 ? 'further up' : 'further down'}`
    : 'stopped'
  state.isSearching = false
  return true
}

/** The search may have been stopped meanwhile. */
function isGoingOn({ isSearching }: PagerState): boolean {
  return isSearching
}

/** Where the last screen begins. */
async function endPlace(state: PagerState, rows: number): Promise<Place> {
  return await placeBack(state, { piece: state.source.count, line: 0 }, rows)
}

async function placeBack(state: PagerState, from: Place, count: number): Promise<Place> {
  let { piece, line: at } = from
  let left = count
  while (left > 0) {
    const step = Math.min(at, left)
    at -= step
    left -= step
    if (left === 0) break
    let before = piece - 1
    while (before >= 0 && (await linesOf(state, before)).length === 0) before--
    if (before < 0) break
    piece = before
    at = (await linesOf(state, before)).length
  }
  return { piece, line: at }
}

async function placeOn(state: PagerState, from: Place, count: number): Promise<Place> {
  let { piece, line: at } = from
  let left = count
  while (left > 0 && piece < state.source.count) {
    const lines = (await linesOf(state, piece)).length
    const step = Math.min(left, lines - at)
    at += step
    left -= step
    if (at < lines) break
    piece++
    at = 0
  }
  return { piece, line: at }
}

/** The same place, or the first line after it; undefined if there is none. */
async function settledPlace(state: PagerState, place: Place): Promise<Place | undefined> {
  let { piece, line: at } = place
  while (piece < state.source.count) {
    if (at < (await linesOf(state, piece)).length) return { piece, line: at }
    piece++
    at = 0
  }
  return undefined
}

async function linesOf(state: PagerState, piece: number): Promise<readonly StyledLine[]> {
  const known = state.laid.get(piece)
  if (known) return known
  if (piece < 0 || piece >= state.source.count) return []
  const lines = await state.source.lines(piece, state.columns)
  const wrapped = lines.flatMap((spans) => wrapLine(spans, state.columns, [span('    ')]))
  if (wrapped.length === 0) return wrapped
  const [oldest] = state.laid.keys()
  if (state.laid.size >= LAID_MAX && oldest !== undefined) state.laid.delete(oldest)
  state.laid.set(piece, wrapped)
  return wrapped
}

function isBefore(a: Place, b: Place): boolean {
  return a.piece < b.piece || (a.piece === b.piece && a.line < b.line)
}

function pageRows({ rows }: PagerSize): number {
  return Math.max(1, rows - 1)
}
