import { lineText, withoutGutter, type Corpus } from './corpus.ts'
import type { MadePage, MadeText } from './sight.ts'

// Pieces of the history that a made text repeats word for word, line after line: recorded text, although the strategy put it there. A
// single line is not a piece: it shows neither what came before it nor what came after.

/** Consecutive lines of the history that a made text repeats unchanged. */
export interface Excerpt {
  /** Lines of the history, `end` exclusive; all in one block. */
  readonly from: number
  readonly end: number
  /** Offsets in the page, `endAt` exclusive. */
  readonly at: number
  readonly endAt: number
  /** A longer excerpt contains it. Results share lines, and the longer excerpt shows which result is repeated. */
  readonly isInside: boolean
}

export interface ExcerptFinder {
  readonly excerptsIn: (made: MadeText) => readonly Excerpt[]
  /** Characters of the page inside excerpts, each counted once. */
  readonly charsIn: (page: MadePage) => number
}

/** Smallest number of lines with a letter or a digit. Other lines (blank, braces) belong to the piece but do not count. */
export const EXCERPT_LINES_MIN = 3

export function createExcerptFinder(corpus: Corpus): ExcerptFinder {
  const index = indexLines(corpus)
  const known = new WeakMap<MadePage, readonly Excerpt[]>()
  const ofPage = (page: MadePage): readonly Excerpt[] => {
    const found = known.get(page) ?? findExcerpts(page.text, index)
    known.set(page, found)
    return found
  }
  return {
    excerptsIn({ page, start, end }) {
      const all = ofPage(page)
      const isIn = ({ at, endAt }: Excerpt): boolean => at >= start && endAt <= end
      return all.every(isIn) ? all : all.filter(isIn)
    },
    charsIn: (page) => coveredChars(ofPage(page)),
  }
}

interface LineIndex {
  readonly lines: readonly string[]
  readonly blocks: Int32Array
  /** Lines that say something, by their text. */
  readonly places: ReadonlyMap<string, readonly number[]>
}

function indexLines(corpus: Corpus): LineIndex {
  const places = new Map<string, number[]>()
  const lines = Array.from(corpus.lineBlocks, (_, line) => {
    const text = lineText(corpus, line).trimEnd()
    if (!saysSomething(text)) return text
    const known = places.get(text)
    if (known) known.push(line)
    else places.set(text, [line])
    return text
  })
  return { lines, blocks: corpus.lineBlocks, places }
}

export function saysSomething(line: string): boolean {
  return /[\p{L}\p{N}]/u.test(line)
}

interface PageLine {
  readonly at: number
  readonly end: number
  /** The line as it is, and without its line number. */
  readonly forms: readonly string[]
}

function findExcerpts(text: string, index: LineIndex): Excerpt[] {
  const page = linesOfPage(text)
  const telling = page.flatMap(({ forms }, i) => (forms.some(saysSomething) ? [i] : []))
  const found = new Map<string, Omit<Excerpt, 'isInside'>>()
  for (let k = 0; k + EXCERPT_LINES_MIN <= telling.length; k++) {
    // Start at the rarest of three lines: every excerpt that has all three contains it.
    const group = telling.slice(k, k + EXCERPT_LINES_MIN)
    const rarest = group
      .map((i) => ({ i, places: placesOf(page[i], index) }))
      .reduce((best, one) => (one.places.length < best.places.length ? one : best))
    for (const place of rarest.places) {
      const excerpt = grow(page, index, rarest.i, place)
      if (excerpt) found.set(`${excerpt.from} ${excerpt.at}`, excerpt)
    }
  }
  const all = [...found.values()]
  const lengthOf = ({ at, endAt }: (typeof all)[number]): number => endAt - at
  return all.map((one) => ({
    ...one,
    isInside: all.some(
      (other) => other.at <= one.at && one.endAt <= other.endAt && lengthOf(other) > lengthOf(one),
    ),
  }))
}

function linesOfPage(text: string): PageLine[] {
  let at = 0
  return text.split('\n').map((line) => {
    const start = at
    at += line.length + 1
    const whole = line.trimEnd()
    const bare = withoutGutter(whole)
    return { at: start, end: start + line.length, forms: bare === whole ? [whole] : [whole, bare] }
  })
}

function placesOf(line: PageLine | undefined, { places }: LineIndex): readonly number[] {
  return (line?.forms ?? []).flatMap((form) => places.get(form) ?? [])
}

/** Extends the match around one line as far as page and history agree, within one block. */
function grow(
  page: readonly PageLine[],
  index: LineIndex,
  i: number,
  place: number,
): Omit<Excerpt, 'isInside'> | undefined {
  const block = index.blocks[place]
  const agree = (offset: number): boolean =>
    index.blocks[place + offset] === block &&
    (page[i + offset]?.forms.includes(index.lines[place + offset] ?? '') ?? false)
  let first = 0
  while (agree(first - 1)) first--
  let last = 0
  while (agree(last + 1)) last++
  const lines = index.lines.slice(place + first, place + last + 1)
  if (lines.filter(saysSomething).length < EXCERPT_LINES_MIN) return undefined
  const at = page[i + first]?.at ?? 0
  return { from: place + first, end: place + last + 1, at, endAt: page[i + last]?.end ?? at }
}

function coveredChars(excerpts: readonly Excerpt[]): number {
  let chars = 0
  let done = 0
  for (const { at, endAt } of excerpts.toSorted((a, b) => a.at - b.at)) {
    chars += Math.max(0, endAt - Math.max(at, done))
    done = Math.max(done, endAt)
  }
  return chars
}
