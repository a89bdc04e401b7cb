import { lineText, type Corpus } from './corpus.ts'
import { extractTokens } from './extract.ts'
import type { EditLine, Reference } from './needs.ts'
import type { Finder } from './occurrences.ts'
import { isInBareList, isNear, mentions, placesIn, type MadeText, type Sight } from './sight.ts'

// Whether what a step went on to use could still be read in the request before it.

/** The answers for one reference, each implied by the next: the word, the word in relation, the whole line. */
export interface Visibility {
  readonly seen: boolean
  readonly related: boolean
  readonly line: boolean
}

/** Of a token that stands on very many lines, the newest ones are looked at. */
const SOURCE_LINES_MAX = 40

const EVERY: Visibility = { seen: true, related: true, line: true }
const NOTHING: Visibility = { seen: false, related: false, line: false }

export function visibilityOf(reference: Reference, sight: Sight, corpus: Corpus): Visibility {
  if (isShown(reference, sight)) return EVERY
  const { needle } = reference
  const found = sight.made.flatMap((made) => placesIn(made, needle).map((at) => ({ made, at })))
  if (found.length === 0) return NOTHING
  const { lines, others } = sourcesOf(reference, corpus)
  const pages = new Set(found.map(({ made }) => made))
  const line = lines.some((source) => [...pages].some((made) => holdsLine(made, source)))
  const related =
    line || found.some(({ made, at }) => !isInBareList(made, at) && isNear(made, at, needle, others))
  return { seen: true, related, line }
}

export function isEditLineVisible(line: EditLine, sight: Sight): boolean {
  if (isShown(line, sight)) return true
  return sight.made
    .filter((made) => placesIn(made, line.needle).length > 0)
    .some((made) => holdsLine(made, toSourceLine(line.needle)))
}

/** Some line before the step that holds it is shown. The newest is the likeliest. */
export function isShown({ lines, before }: Pick<Reference, 'lines' | 'before'>, sight: Sight): boolean {
  for (let i = before - 1; i >= 0; i--) if (sight.shows(lines[i] ?? -1)) return true
  return false
}

/** Whether the agent could find its way back: something visible leads to the lost line. */
export function isSearchable(reference: Reference, sight: Sight, corpus: Corpus, finder: Finder): boolean {
  const { others } = sourcesOf(reference, corpus)
  return others.some((other) => {
    const lines = finder.linesWith(other)
    return lines.some((line) => sight.shows(line)) || sight.made.some((made) => mentions(made, other))
  })
}

/** The blocks that held it, newest first, each once. */
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

/** A line that a reference may have come from. */
interface SourceLine {
  readonly text: string
  /** Where its one identifier stands, if it is nothing but one. */
  readonly bareAt: number | undefined
}

interface Sources {
  readonly lines: readonly SourceLine[]
  /** Other distinctive tokens of those lines. */
  readonly others: readonly string[]
}

/** References are shared by all that is measured on a session: each is looked up once. */
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

/** A line that is one bare identifier is held against the same guard as the identifier. */
function holdsLine(made: MadeText, { text, bareAt }: SourceLine): boolean {
  return placesIn(made, text).some((at) => bareAt === undefined || !isInBareList(made, at + bareAt))
}
