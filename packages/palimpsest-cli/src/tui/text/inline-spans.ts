import { span, type Span, type StyledLine } from './styled-line.ts'

// Code, emphasis and links within a line. The marks are those of CommonMark, without nesting. The scan goes from left to right and visits
// each place once, so the work is proportional to the line, whatever it holds.

export function inlineSpans(text: string, base: Span['style'] = 'plain'): StyledLine {
  const finders = createFinders(text)
  const spans: Span[] = []
  let plainFrom = 0
  for (let at = 0; at < text.length;) {
    const piece = pieceAt(text, at, finders)
    if (piece.spans.length > 0) {
      if (at > plainFrom) spans.push(span(text.slice(plainFrom, at), base))
      spans.push(...piece.spans)
      plainFrom = piece.end
    }
    at = piece.end
  }
  return plainFrom < text.length || spans.length === 0 ? [...spans, span(text.slice(plainFrom), base)] : spans
}

/** Text without marks has no spans of its own. */
interface Piece {
  readonly spans: StyledLine
  readonly end: number
}

function pieceAt(text: string, at: number, finders: Finders): Piece {
  switch (text[at]) {
    case '`':
      return codeAt(text, at, finders)
    case '[':
      return linkAt(text, at, finders)
    case '*':
    case '_':
      return strongAt(text, at, finders) ?? emphasisAt(text, at, finders) ?? plain(at + 1)
    default:
      return plain(at + 1)
  }
}

function plain(end: number): Piece {
  return { spans: [], end }
}

/** Up to the next run of equally many backticks; without one, the run is text. */
function codeAt(text: string, at: number, { runEnd, closingRun }: Finders): Piece {
  const from = runEnd(at)
  const close = closingRun(from - at, from)
  if (close === undefined) return plain(from)
  return { spans: [span(text.slice(from, close), 'code')], end: close + (from - at) }
}

const LINK_BESIDE = 2

function linkAt(text: string, at: number, { bracket, targetEnd }: Finders): Piece {
  const labelEnd = bracket(at + 1)
  if (labelEnd === undefined || labelEnd === at + 1 || text[labelEnd + 1] !== '(') return plain(at + 1)
  const from = labelEnd + LINK_BESIDE
  const end = targetEnd(from)
  if (end === undefined || end === from || text[end] !== ')') return plain(at + 1)
  return { spans: linkSpans(text.slice(at + 1, labelEnd), text.slice(from, end)), end: end + 1 }
}

function linkSpans(label: string, target: string): StyledLine {
  return label === target ? [span(label, 'accent')] : [span(`${label} `), span(`(${target})`, 'accent')]
}

const STRONG_CHARS = 2

function strongAt(text: string, at: number, { strongEnd }: Finders): Piece | undefined {
  const mark = text[at]
  if (text[at + 1] !== mark || isSpace(text[at + STRONG_CHARS])) return undefined
  const from = at + STRONG_CHARS
  const end = strongEnd[mark === '*' ? '*' : '_'](from + 1)
  return end === undefined
    ? undefined
    : { spans: [span(text.slice(from, end), 'bold')], end: end + STRONG_CHARS }
}

/** Emphasis marks are at the edge of a word, so snake case and products do not count. */
function emphasisAt(text: string, at: number, { emphasisEnd }: Finders): Piece | undefined {
  if (isJoined(text[at - 1]) || isSpaceOrMark(text[at + 1])) return undefined
  const end = emphasisEnd[text[at] === '*' ? '*' : '_'](at + 2)
  return end === undefined ? undefined : { spans: [span(text.slice(at + 1, end), 'italic')], end: end + 1 }
}

/** The first place at or after `from`. `from` only grows from call to call. */
type Find = (from: number) => number | undefined

interface Finders {
  readonly bracket: Find
  /** Where a link's target ends: at a bracket or a space. */
  readonly targetEnd: Find
  readonly strongEnd: { readonly [mark in '*' | '_']: Find }
  readonly emphasisEnd: { readonly [mark in '*' | '_']: Find }
  /** Index after the backticks that begin here. */
  readonly runEnd: (at: number) => number
  /** Where the next run of this many backticks begins. */
  readonly closingRun: (length: number, from: number) => number | undefined
}

function createFinders(text: string): Finders {
  const runs = backtickRuns(text)
  const find = (fits: (at: number) => boolean): Find => createFind(text.length, fits)
  const strong = (mark: string): Find =>
    find((at) => text[at] === mark && text[at + 1] === mark && !isSpace(text[at - 1]))
  const emphasis = (mark: string): Find =>
    find((at) => text[at] === mark && !isSpaceOrMark(text[at - 1]) && !isJoined(text[at + 1]))
  return {
    bracket: find((at) => text[at] === ']'),
    targetEnd: find((at) => text[at] === ')' || isSpace(text[at])),
    strongEnd: { '*': strong('*'), _: strong('_') },
    emphasisEnd: { '*': emphasis('*'), _: emphasis('_') },
    runEnd: (at) => {
      let end = at
      while (text[end] === '`') end++
      return end
    },
    closingRun: (length, from) => runs.get(length)?.(from),
  }
}

/** Remembers how far it has looked: all calls together visit each place once. */
function createFind(length: number, fits: (at: number) => boolean): Find {
  let at = 0
  return (from) => {
    at = Math.max(at, from)
    while (at < length && !fits(at)) at++
    return at < length ? at : undefined
  }
}

/** For each length, where the next run of backticks begins. */
function backtickRuns(text: string): ReadonlyMap<number, Find> {
  const places = new Map<number, number[]>()
  for (let at = text.indexOf('`'); at !== -1;) {
    const from = at
    while (text[at] === '`') at++
    const known = places.get(at - from)
    if (known) known.push(from)
    else places.set(at - from, [from])
    at = text.indexOf('`', at)
  }
  return new Map(Array.from(places, ([length, starts]) => [length, findIn(starts)]))
}

function findIn(starts: readonly number[]): Find {
  let next = 0
  return (from) => {
    while (next < starts.length && (starts[next] ?? 0) < from) next++
    return starts[next]
  }
}

/** The end of the line counts as a space. */
function isSpace(character: string | undefined): boolean {
  return character === undefined || /\s/.test(character)
}

function isSpaceOrMark(character: string | undefined): boolean {
  return character === '*' || character === '_' || isSpace(character)
}

function isJoined(character: string | undefined): boolean {
  return character !== undefined && /[\w*]/.test(character)
}
