import { blockOfLine, lineText, type Corpus } from './corpus.ts'
import { extractTokens } from './extract.ts'
import type { EditLine, Reference } from './needs.ts'
import type { Finder } from './occurrences.ts'
import { isInBareList, isNear, mentions, placesIn, type MadeText, type Sight } from './sight.ts'

// Whether what a step went on to use could still be read in the request before it.

/** The four answers for one reference, each implied by the next: word, word in relation, whole line. */
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
  const found = sight.made.flatMap((made) => placesIn(made, reference.needle).map((at) => ({ made, at })))
  if (found.length === 0) return NOTHING
  const sources = sourceLines(reference, corpus)
  const line = sources.some((source) => sight.made.some((made) => holdsLine(made, source)))
  const others = otherTokens(sources, reference.needle)
  const related =
    line ||
    found.some(({ made, at }) => !isInBareList(made, at) && isNear(made, at, reference.needle, others))
  return { seen: true, related, line }
}

export function isEditLineVisible(line: EditLine, sight: Sight): boolean {
  return isShown(line, sight) || sight.made.some((made) => holdsLine(made, line.needle))
}

/** Some line before the step that holds it is shown. The newest is the likeliest. */
export function isShown({ lines, before }: Pick<Reference, 'lines' | 'before'>, sight: Sight): boolean {
  for (let i = before - 1; i >= 0; i--) if (sight.shows(lines[i] ?? -1)) return true
  return false
}

/** Whether the agent could find its way back: something visible leads to the lost line. */
export function isSearchable(reference: Reference, sight: Sight, corpus: Corpus, finder: Finder): boolean {
  const others = otherTokens(sourceLines(reference, corpus), reference.needle)
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
    if (block !== undefined && blockOfLine(corpus, lines[i] ?? -1)) blocks.add(block)
  }
  return [...blocks]
}

function sourceLines({ lines, before }: Reference, corpus: Corpus): string[] {
  const newest = lines.slice(Math.max(0, before - SOURCE_LINES_MAX), before)
  return [...new Set(newest.map((line) => lineText(corpus, line).trim()))]
}

function otherTokens(sources: readonly string[], needle: string): string[] {
  const others = sources.flatMap(extractTokens).map((token) => token.text)
  return [...new Set(others)].filter((other) => !other.includes(needle) && !needle.includes(other))
}

/** A line that is one bare identifier is held against the same guard as the identifier. */
function holdsLine(made: MadeText, source: string): boolean {
  const [token, ...more] = extractTokens(source)
  const isBare = token !== undefined && more.length === 0 && !/\w/.test(source.replace(token.text, ''))
  return placesIn(made, source).some((at) => !isBare || !isInBareList(made, at + (token?.at ?? 0)))
}
