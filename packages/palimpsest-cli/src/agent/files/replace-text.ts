import { placesOf } from '../patterns/wildcard.ts'

// Exact replacement in a text. Pure. A model sees every line end as "\n", so its text is found whatever the line ends of the file, and the
// new text takes the line ends of its place.

export interface Replacement {
  readonly text: string
  readonly count: number
  /** Lines where the replaced text began; the first line is 1. */
  readonly lines: readonly number[]
}

export type ReplaceFailure =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'not-unique'; readonly count: number; readonly lines: readonly number[] }

export type ReplaceResult = ({ readonly ok: true } & Replacement) | ({ readonly ok: false } & ReplaceFailure)

interface Match {
  readonly at: number
  readonly length: number
}

/** Replaces the only occurrence of `old`; with `all`, every occurrence that does not overlap the one before it. */
export function replaceText(text: string, old: string, fresh: string, all: boolean): ReplaceResult {
  const matches = findMatches(text, old)
  if (matches.length === 0) return { ok: false, kind: 'not-found' }
  if (!all && matches.length > 1) {
    return { ok: false, kind: 'not-unique', count: matches.length, lines: linesAt(text, matches) }
  }
  const chosen = withoutOverlaps(matches)
  let result = ''
  let from = 0
  for (const match of chosen) {
    result += text.slice(from, match.at) + withLineEnds(fresh, lineEndAt(text, match))
    from = match.at + match.length
  }
  result += text.slice(from)
  return { ok: true, text: result, count: chosen.length, lines: linesAt(text, chosen) }
}

/** Every place where the text occurs, including overlapping ones, whatever its line ends there. Takes time linear in both. */
function findMatches(text: string, old: string): readonly Match[] {
  const wanted = old.replaceAll('\r\n', '\n')
  const pairs = placesOf('\r\n', text)
  const places = placesOf(wanted, pairs.length === 0 ? text : text.replaceAll('\r\n', '\n'))
  // In the text without "\r", each pair before a place takes one character less.
  let [before, within] = [0, 0]
  const isBefore = (pair: number, place: number): boolean => (pairs[pair] ?? Infinity) - pair < place
  return places.map((place) => {
    while (isBefore(before, place)) before++
    while (isBefore(within, place + wanted.length)) within++
    return { at: place + before, length: wanted.length + within - before }
  })
}

function withoutOverlaps(matches: readonly Match[]): Match[] {
  const chosen: Match[] = []
  let end = 0
  for (const match of matches) {
    if (match.at < end) continue
    chosen.push(match)
    end = match.at + match.length
  }
  return chosen
}

function withLineEnds(text: string, end: '\n' | '\r\n'): string {
  const plain = text.replaceAll('\r\n', '\n')
  return end === '\n' ? text : plain.replaceAll('\n', '\r\n')
}

/** The line end for a match: the last one inside it, otherwise the next one after it, otherwise the last one before it. */
function lineEndAt(text: string, { at, length }: Match): '\n' | '\r\n' {
  const inside = text.lastIndexOf('\n', at + length - 1)
  const next = text.indexOf('\n', at + length)
  const place = inside >= at ? inside : next === -1 ? inside : next
  return place > 0 && text[place - 1] === '\r' ? '\r\n' : '\n'
}

const LINES_MAX = 10

function linesAt(text: string, matches: readonly Match[]): number[] {
  const lines: number[] = []
  let line = 1
  let from = 0
  for (const { at } of matches.slice(0, LINES_MAX)) {
    for (let next = text.indexOf('\n', from); next !== -1 && next < at; next = text.indexOf('\n', from)) {
      line++
      from = next + 1
    }
    lines.push(line)
  }
  return lines
}
