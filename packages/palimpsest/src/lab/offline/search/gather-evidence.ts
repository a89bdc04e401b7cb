import { toOutline, type KnownLine, type Outline } from './outline.ts'
import { rarityOf, type FileEvidence, type WordCounts } from './rank-files.ts'
import type { Question } from './read-question.ts'
import {
  countFiles,
  readCounts,
  readMatches,
  readPage,
  type Counted,
  type ToolResult,
} from './read-results.ts'
import { firstCalls, relatedCalls, type FirstRole } from './search-calls.ts'
import type { OfferedTools } from './offered-tools.ts'
import { matchQuote } from './match-quote.ts'

// Everything that the searches of this turn found, as one value.

export interface Evidence extends FileEvidence {
  readonly rarities: readonly number[]
  readonly outlines: readonly Outline[]
  /** For each file, the ranges of line numbers that were read as pages. */
  readonly pages: ReadonlyMap<string, readonly Page[]>
  /** Concepts whose related words were counted. */
  readonly relatedCounted: ReadonlySet<number>
}

export interface Page {
  readonly from: number
  readonly to: number
}

/** Rarity of words that were not searched: neither rare nor common. */
const UNSEARCHED_RARITY = 1.5
const QUOTE_WORTH = 2
const RUN_WORTH = 0.25
const RUNS_COUNTED_MAX = 3

export function gatherEvidence(
  question: Question,
  tools: OfferedTools,
  results: readonly ToolResult[],
): Evidence {
  const counting = [...firstCalls(question, tools), ...relatedCalls(question, tools)]
  const roles = new Map(counting.map(({ role, call }) => [JSON.stringify(call), role]))
  const known: KnownFiles = new Map()
  const pages = new Map<string, Page[]>()
  const exact = new Map<number, Counted>()
  const related = new Map<number, Counted>()
  const phrases = new Map<string, number>()
  let filesTotal = 0
  for (const result of results) {
    const role = roles.get(JSON.stringify({ name: result.name, input: result.input }))
    if (role?.kind === 'exact') exact.set(role.concept, readCounts(result))
    else if (role?.kind === 'related') related.set(role.concept, readCounts(result))
    else if (role?.kind === 'files') filesTotal = countFiles(result)
    else if (role) addPhrases(phrases, role, result, question)
    if (role && role.kind !== 'quotes') continue
    addLines(known, pages, result, tools)
  }
  const counts = question.concepts.map((_, i) => toCounts(exact.get(i), related.get(i)))
  const seen = new Set(counts.flatMap((each) => [...each.exact.keys(), ...each.related.keys()]))
  const total = Math.max(filesTotal, seen.size)
  return {
    counts,
    filesTotal: total,
    phrases,
    rarities: question.concepts.map((concept, i) =>
      exact.has(i) ? rarityOf(concept, counts[i], total) : UNSEARCHED_RARITY,
    ),
    outlines: [...known].map(([path, lines]) => toOutline(path, sortLines(lines))),
    pages,
    relatedCounted: new Set(related.keys()),
  }
}

type KnownFiles = Map<string, Map<number, string>>

function addLines(
  known: KnownFiles,
  pages: Map<string, Page[]>,
  result: ToolResult,
  tools: OfferedTools,
): void {
  const isPage = result.name === tools.read
  const lines = isPage ? readPage(result) : result.name === tools.grep ? readMatches(result) : []
  for (const { path, number, text } of lines) {
    const file = known.get(path) ?? new Map<number, string>()
    file.set(number, text)
    known.set(path, file)
  }
  const [first, last] = [lines[0], lines.at(-1)]
  if (isPage && first && last)
    pages.set(first.path, [...(pages.get(first.path) ?? []), { from: first.number, to: last.number }])
}

function sortLines(lines: ReadonlyMap<number, string>): readonly KnownLine[] {
  return [...lines].toSorted(([a], [b]) => a - b).map(([number, text]) => ({ number, text }))
}

function addPhrases(
  phrases: Map<string, number>,
  role: FirstRole,
  result: ToolResult,
  question: Question,
): void {
  const raise = (path: string, worth: number): void => {
    phrases.set(path, Math.max(phrases.get(path) ?? 0, worth))
  }
  if (role.kind === 'runs')
    for (const [path, count] of readCounts(result).counts)
      raise(path, RUN_WORTH * Math.min(RUNS_COUNTED_MAX, count))
  if (role.kind === 'quotes')
    for (const { path, text } of readMatches(result))
      for (const quote of question.quotes) raise(path, QUOTE_WORTH * matchQuote(quote, text) ** 2)
}

function toCounts(exact: Counted | undefined, related: Counted | undefined): WordCounts {
  const none: Counted = { counts: new Map(), left: 0 }
  const [own, near] = [exact ?? none, related ?? none]
  return {
    exact: own.counts,
    related: near.counts,
    files: own.counts.size + own.left,
    relatedFiles: near.counts.size + near.left,
  }
}
