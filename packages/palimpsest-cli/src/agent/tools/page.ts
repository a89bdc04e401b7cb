// A page of a text: numbered lines, bounded, with a last line that says how to continue. Pure.

export const PAGE_LINES_DEFAULT = 2000
/** About 25,000 tokens. */
export const PAGE_BYTES_MAX = 100_000
/** Longer lines are cut, unless the request asks for few lines: then they share the page. */
const LINE_CHARS_MIN = 2000
const NUMBER_WIDTH = 6

export interface PageRequest {
  /** First line shown, from 1. */
  readonly offset: number
  readonly limit: number
}

export interface Line {
  readonly text: string
  /** Characters of the line that are not in `text`. */
  readonly cut: number
}

export interface Page {
  readonly shown: readonly Line[]
  /** Undefined if not counted. */
  readonly totalLines?: number
  /** More lines follow. */
  readonly hasMore: boolean
}

export function lineCharsMax({ limit }: PageRequest): number {
  return Math.max(LINE_CHARS_MIN, Math.floor(PAGE_BYTES_MAX / limit))
}

/** Cuts a line at the limit, never inside a character. A carriage return at its end belongs to the line end. */
export function toLine(text: string, charsMax: number): Line {
  const plain = text.endsWith('\r') ? text.slice(0, -1) : text
  if (plain.length <= charsMax) return { text: plain, cut: 0 }
  const end = isHighSurrogate(plain.charCodeAt(charsMax - 1)) ? charsMax - 1 : charsMax
  return { text: plain.slice(0, end), cut: plain.length - end }
}

/** A page of a text that is in memory. */
export function pageOf(text: string, request: PageRequest): Page {
  const all = text.split('\n')
  // What follows the last line end is a line only if it is not empty.
  if (all.at(-1) === '') all.pop()
  const charsMax = lineCharsMax(request)
  const wanted = all.slice(request.offset - 1, request.offset - 1 + request.limit)
  const shown = takeLines(wanted.map((line) => toLine(line, charsMax)))
  return { shown, totalLines: all.length, hasMore: request.offset - 1 + shown.length < all.length }
}

/** As many lines as the page holds, at least one. */
export function takeLines(lines: readonly Line[]): readonly Line[] {
  let bytes = 0
  const end = lines.findIndex(({ text }, index) => {
    bytes += Buffer.byteLength(text) + NUMBER_WIDTH + 2
    return index > 0 && bytes > PAGE_BYTES_MAX
  })
  return end === -1 ? lines : lines.slice(0, end)
}

export function renderPage({ shown, totalLines, hasMore }: Page, { offset }: PageRequest): string {
  const body = shown.map(({ text, cut }, index) => {
    const number = String(offset + index).padStart(NUMBER_WIDTH)
    return `${number}\t${text}${cut === 0 ? '' : `… [${cut} more characters in this line]`}`
  })
  const last = offset + shown.length - 1
  const of = totalLines === undefined ? '' : ` of ${totalLines}`
  const more = hasMore ? [`[Lines ${offset}-${last}${of} are shown. Go on with offset=${last + 1}.]`] : []
  const cut = shown.some((line) => line.cut > 0)
    ? ['[Long lines are cut. Ask for fewer lines (limit) to see more of each, or search in them with Grep.]']
    : []
  return [...body, ...cut, ...more].join('\n')
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
