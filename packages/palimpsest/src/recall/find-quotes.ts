import type { RecallQuery } from './query.ts'

// Where a text answers a query: complete lines, word for word, with the lines around them.

export interface Quote {
  readonly quote: string
  readonly before: string
  readonly after: string
  /** One of the four scores below. */
  readonly score: number
}

/** The same letters, as a word of their own. */
export const EXACT = 1
/** In another case, as a word of their own. */
export const WHOLE_WORD = 0.75
/** Inside something longer. */
export const PART = 0.5
/** All the words in one line. */
export const ALL_WORDS = 0.25

/** Most quotes from one text: more of the same say little more. */
const QUOTES_MAX = 5
/** A text may contain a short query a million times. */
const LOOKS_MAX = 2_000
const LINES_AROUND = 2
/** Of a longer line, only the part around the match is quoted. */
export const QUOTE_CHARS_MAX = 2_000
const AROUND_CHARS_MAX = 500

/** Best first, each line once. */
export function findQuotes(text: string, query: RecallQuery): readonly Quote[] {
  const places = phrasePlaces(text, query)
  const found = places.length > 0 ? places : wordPlaces(text, query)
  return found
    .toSorted((a, b) => b.score - a.score)
    .slice(0, QUOTES_MAX)
    .map((place) => quoteAt(text, place))
}

export interface Place {
  readonly start: number
  readonly end: number
  readonly score: number
}

function phrasePlaces(text: string, { phrase, text: wanted }: RecallQuery): readonly Place[] {
  const byLine = new Map<number, Place>()
  let looks = 0
  for (const match of text.matchAll(phrase)) {
    if (++looks > LOOKS_MAX) break
    const [start, end] = [match.index, match.index + match[0].length]
    const line = text.lastIndexOf('\n', start - 1)
    const score = standsAlone(text, start, end) ? (match[0] === wanted ? EXACT : WHOLE_WORD) : PART
    if ((byLine.get(line)?.score ?? 0) < score) byLine.set(line, { start, end, score })
  }
  return [...byLine.values()]
}

const WORD = /[\p{L}\p{N}_]/u

function standsAlone(text: string, start: number, end: number): boolean {
  const joins = (left: string, right: string): boolean => WORD.test(left) && WORD.test(right)
  return !joins(text.charAt(start - 1), text.charAt(start)) && !joins(text.charAt(end - 1), text.charAt(end))
}

function wordPlaces(text: string, { words }: RecallQuery): readonly Place[] {
  const [rarest, ...others] = words
  if (!rarest || !words.every((word) => word.test(text))) return []
  const places: Place[] = []
  let looks = 0
  for (const match of text.matchAll(new RegExp(rarest.source, 'giu'))) {
    if (++looks > LOOKS_MAX || places.length >= QUOTES_MAX) break
    const [from, to] = lineAround(text, match.index, match.index)
    if (places.at(-1)?.end === to) continue
    const line = text.slice(from, to)
    const isAll = others.every((word) => word.test(line))
    if (isAll) places.push({ start: match.index, end: to, score: ALL_WORDS })
  }
  return places
}

/** The complete lines around a place. */
export function quoteAt(text: string, { start, end, score }: Place): Quote {
  const [lineStart, lineEnd] = lineAround(text, start, end)
  const isLong = lineEnd - lineStart > QUOTE_CHARS_MAX
  const from = isLong ? safeCut(text, Math.max(lineStart, start - QUOTE_CHARS_MAX / 4)) : lineStart
  const to = isLong ? safeCut(text, Math.min(lineEnd, from + QUOTE_CHARS_MAX)) : lineEnd
  return {
    quote: text.slice(from, to),
    before: linesBefore(text, lineStart),
    after: linesAfter(text, lineEnd),
    score,
  }
}

/** From the beginning of the line with `start` to the end of the line with `end`. */
function lineAround(text: string, start: number, end: number): readonly [number, number] {
  const next = text.indexOf('\n', end)
  return [text.lastIndexOf('\n', start - 1) + 1, next === -1 ? text.length : next]
}

function linesBefore(text: string, lineStart: number): string {
  let from = lineStart
  for (let line = 0; line < LINES_AROUND && from > 0; line++) from = text.lastIndexOf('\n', from - 2) + 1
  const end = Math.max(from, lineStart - 1)
  return text.slice(safeCut(text, Math.max(from, end - AROUND_CHARS_MAX)), end)
}

function linesAfter(text: string, lineEnd: number): string {
  let to = lineEnd
  for (let line = 0; line < LINES_AROUND && to < text.length; line++) {
    const next = text.indexOf('\n', to + 1)
    to = next === -1 ? text.length : next
  }
  return text.slice(lineEnd + 1, safeCut(text, Math.min(to, lineEnd + 1 + AROUND_CHARS_MAX)))
}

/** Never inside a character. */
function safeCut(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}
