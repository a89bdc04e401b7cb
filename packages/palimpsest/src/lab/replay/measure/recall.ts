import { lineText, type Corpus } from './corpus.ts'
import { extractTokens } from './extract.ts'
import type { ExcerptFinder } from './excerpts.ts'
import type { EditLine, EditText, Reference } from './needs.ts'
import type { Finder } from './occurrences.ts'
import { isInBareList, isNear, mentions, placesIn, type MadeText, type Sight } from './sight.ts'

// Whether the request before a step still showed what the step used.

/** How a request shows a reference: the word, the word near related ones, its line quoted, its line in place. Each implies those before. */
export interface Visibility {
  readonly seen: boolean
  readonly related: boolean
  readonly quoted: boolean
  readonly line: boolean
}

/** What the made texts of a request repeat from the history, in pieces of several lines. */
export interface Pieces {
  readonly holds: (line: number) => boolean
  /** Whether one piece contains all of these lines. */
  readonly covers: (from: number, end: number) => boolean
  /** Whether a piece contains any of these lines. Lines inside a longer piece of another block belong to that piece. */
  readonly touches: (from: number, end: number) => boolean
}

export function piecesIn(sight: Sight, excerpts: ExcerptFinder): Pieces {
  const found = sight.made.flatMap((made) => excerpts.excerptsIn(made))
  const own = found.filter(({ isInside }) => !isInside)
  const covers = (from: number, end: number): boolean =>
    found.some((excerpt) => excerpt.from <= from && end <= excerpt.end)
  return {
    holds: (line) => covers(line, line + 1),
    covers,
    touches: (from, end) => own.some((excerpt) => excerpt.from < end && from < excerpt.end),
  }
}

/** For a token on very many lines, only the newest ones are examined. */
const SOURCE_LINES_MAX = 40

const EVERY: Visibility = { seen: true, related: true, quoted: true, line: true }
const NOTHING: Visibility = { seen: false, related: false, quoted: false, line: false }

export function visibilityOf(reference: Reference, sight: Sight, pieces: Pieces, corpus: Corpus): Visibility {
  if (isShown(reference, sight) || isInPiece(reference, pieces)) return EVERY
  const { needle } = reference
  const found = sight.made.flatMap((made) => placesIn(made, needle).map((at) => ({ made, at })))
  if (found.length === 0) return NOTHING
  const { lines, others } = sourcesOf(reference, corpus)
  const pages = new Set(found.map(({ made }) => made))
  const quoted = lines.some((source) => [...pages].some((made) => holdsLine(made, source)))
  const related =
    quoted || found.some(({ made, at }) => !isInBareList(made, at) && isNear(made, at, needle, others))
  return { seen: true, related, quoted, line: false }
}

export function isEditLineVisible(line: EditLine, sight: Sight, pieces: Pieces): boolean {
  return isShown(line, sight) || isInPiece(line, pieces)
}

/** The same, but a single line counts wherever it is quoted. */
export function isEditLineQuoted(line: EditLine, sight: Sight): boolean {
  return sight.made
    .filter((made) => placesIn(made, line.needle).length > 0)
    .some((made) => holdsLine(made, toSourceLine(line.needle)))
}

/** Whether the whole text is somewhere in one piece: in its own block, or in an excerpt of it. */
export function isEditTextVisible({ places, length }: EditText, sight: Sight, pieces: Pieces): boolean {
  return places.some((first) => {
    const end = first + length
    if (pieces.covers(first, end)) return true
    for (let line = first; line < end; line++) if (!sight.shows(line)) return false
    return true
  })
}

function isInPiece({ lines, before }: Pick<Reference, 'lines' | 'before'>, pieces: Pieces): boolean {
  for (let i = before - 1; i >= 0; i--) if (pieces.holds(lines[i] ?? -1)) return true
  return false
}

/** Whether a line before the step that contains it is shown. The newest is the likeliest. */
export function isShown({ lines, before }: Pick<Reference, 'lines' | 'before'>, sight: Sight): boolean {
  for (let i = before - 1; i >= 0; i--) if (sight.shows(lines[i] ?? -1)) return true
  return false
}

/** Whether something visible leads the agent to the lost line. */
export function isSearchable(reference: Reference, sight: Sight, corpus: Corpus, finder: Finder): boolean {
  const { others } = sourcesOf(reference, corpus)
  return others.some((other) => {
    const lines = finder.linesWith(other)
    return lines.some((line) => sight.shows(line)) || sight.made.some((made) => mentions(made, other))
  })
}

/** The blocks that contained it, newest first, each once. */
export function sourceBlocks(
  { lines, before }: Pick<Reference, 'lines' | 'before'>,
  corpus: Corpus,
): number[] {
  const blocks = new Set<number>()
  for (let i = before - 1; i >= Math.max(0, before - SOURCE_LINES_MAX); i--) {
    const block = corpus.lineBlocks[lines[i] ?? -1]
    if (block !== undefined) blocks.add(block)
  }
  return [...blocks]
}

/** A line that a reference may come from. */
interface SourceLine {
  readonly text: string
  /** Offset of the identifier if the line is nothing but one; otherwise undefined. */
  readonly bareAt: number | undefined
}

interface Sources {
  readonly lines: readonly SourceLine[]
  /** Other distinctive tokens on those lines. */
  readonly others: readonly string[]
}

/** All measurements of a session share its references, so each is looked up once. */
const knownSources = new WeakMap<Reference, Sources>()

function sourcesOf(reference: Reference, corpus: Corpus): Sources {
  const known = knownSources.get(reference)
  if (known) return known
  const { lines, before, needle } = reference
  const newest = lines.slice(Math.max(0, before - SOURCE_LINES_MAX), before)
  const texts = [...new Set(newest.map((line) => lineText(corpus, line).trim()))]
  const others = texts.flatMap(extractTokens).map((token) => token.text)
  const sources = {
    lines: texts.map(toSourceLine),
    others: [...new Set(others)].filter((other) => !other.includes(needle) && !needle.includes(other)),
  }
  knownSources.set(reference, sources)
  return sources
}

function toSourceLine(text: string): SourceLine {
  const [token, ...more] = extractTokens(text)
  const isBare = token !== undefined && more.length === 0 && !/\w/.test(text.replace(token.text, ''))
  return { text, bareAt: isBare ? token.at : undefined }
}

/** For a line that is one bare identifier, the same rule applies as for the identifier. */
function holdsLine(made: MadeText, { text, bareAt }: SourceLine): boolean {
  return placesIn(made, text).some((at) => bareAt === undefined || !isInBareList(made, at + bareAt))
}
