import { fileWeight, pathWords } from './file-kind.ts'
import { findAssigned, findScopes, type Scope } from './find-scopes.ts'
import { matchWord, type MatchedWord } from './match-words.ts'
import { longestRow, matchQuote, wordsOf } from './match-quote.ts'
import type { Outline, OutlineLine } from './outline.ts'
import * as weight from './ranking-weights.ts'
import type { Question } from './read-question.ts'
import { spreadConcept, type Hit } from './spread-concept.ts'
import { wantedGain } from './wanted-gain.ts'

// Ranks every known line by how well it may answer the question. Pure.

export interface RankedLine {
  readonly path: string
  readonly line: OutlineLine
  readonly score: number
}

export interface Ranking {
  readonly question: Question
  /** For each concept, its rarity in the folder: the logarithm of the number of files per file that has it. */
  readonly rarities: readonly number[]
  readonly outlines: readonly Outline[]
}

/** What is the same for all files. */
interface Measure {
  readonly question: Question
  /** All words of the question, in order. */
  readonly words: readonly string[]
  readonly weights: readonly number[]
  readonly scopes: readonly (Scope | undefined)[]
  readonly assigned: readonly ReadonlySet<string>[]
  readonly total: number
}

/** Best first. */
export function rankLines({ question, rarities, outlines }: Ranking): readonly RankedLine[] {
  const { concepts } = question
  const weights = concepts.map(({ share }, i) => Math.min(weight.RARITY_MAX, rarities[i] ?? 0) * share)
  const scopes = findScopes(concepts, rarities, outlines)
  const measure: Measure = {
    question,
    words: wordsOf(question.text),
    weights,
    scopes,
    assigned: concepts.map((concept, i) => (scopes[i] ? NO_NAMES : findAssigned(concept, outlines))),
    total: weights.reduce((sum, own) => sum + own, 0) || 1,
  }
  return outlines
    .flatMap((outline) => rankOutline(outline, measure))
    .toSorted((a, b) => b.score - a.score || compare(a.path, b.path) || a.line.number - b.line.number)
}

const NO_NAMES: ReadonlySet<string> = new Set()

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function rankOutline(outline: Outline, measure: Measure): readonly RankedLine[] {
  const { question, total } = measure
  const { concepts } = question
  const { lines, path } = outline
  const input = { concepts, weights: measure.weights, assigned: measure.assigned }
  const matched = outline.words.map((word) => matchWord(word, input))
  const facts = gatherFacts(outline, matched, measure)
  const defined = definedWorth(outline, matched, facts, question)
  const fileShare = fileWeight(pathWords(path).kind, question.wants)
  const hasQuote = question.quotes.length > 0
  const inherited = new Float64Array(lines.length)
  return lines.flatMap((line, i) => {
    inherited[i] = line.parent < 0 ? 0 : Math.max(inherited[line.parent] ?? 0, defined[line.parent] ?? 0)
    const base = facts.presence[i] ?? 0
    const own = facts.own[i] ?? 0
    const quoted = hasQuote ? quotedWorth(line, question) : 0
    if (line.kind === 'blank' || (base === 0 && quoted === 0)) return []
    const sum =
      base * Math.min(1, base / total) ** weight.COVERAGE_POWER +
      weight.OWN_WORDS * own +
      weight.OFTEN_IN_FILE * facts.often +
      weight.IN_PATH * facts.inPath +
      (defined[i] ?? 0) +
      weight.INSIDE_DEFINED * (inherited[i] ?? 0) +
      (own > 0 ? togetherWorth(line, measure) : 0) +
      quoted
    const isSubject = facts.subjects.has(i) && !question.wants.definition
    const gain = 1 + wantedGain(line, question.wants) + (facts.made.has(i) ? weight.WANTED.made : 0)
    const score = sum * gain * fileShare * weight.KINDS[line.kind] * (isSubject ? weight.SUBJECT_HEADER : 1)
    return score > 0 ? [{ path, line, score }] : []
  })
}

interface OutlineFacts {
  /** For each line, the weight of the concepts present there. */
  readonly presence: Float64Array
  /** For each line, the weight of its own words; names that are scopes do not count. */
  readonly own: Float64Array
  readonly often: number
  readonly inPath: number
  /** Lines that define what the question names. */
  readonly subjects: ReadonlySet<number>
  /** Lines that make an error that the question names. */
  readonly made: ReadonlySet<number>
}

/** Hits at which a word counts half. */
const OFTEN_HALF = 3

function gatherFacts(
  outline: Outline,
  matched: readonly (MatchedWord | undefined)[],
  { question, weights, scopes }: Measure,
): OutlineFacts {
  const { lines } = outline
  const presence = new Float64Array(lines.length)
  const own = new Float64Array(lines.length)
  const subjects = new Set<number>()
  const made = new Set<number>()
  const path = pathWords(outline.path)
  let [often, inPath] = [0, 0]
  const hitsOf = findHits(outline, matched, question.concepts.length)
  question.concepts.forEach((concept, c) => {
    const hits = hitsOf[c] ?? []
    const scope = scopes[c]
    const own1 = weights[c] ?? 0
    const spread = own1 > 0 ? spreadConcept(outline, { concept, scope, hits, path }) : undefined
    if (!spread) return
    const counted = scope ? own1 * weight.SCOPE_WEIGHT : own1
    spread.presence.forEach((share, i) => (presence[i] = (presence[i] ?? 0) + share * counted))
    inPath += spread.inPath * own1
    for (const at of spread.definitions) subjects.add(at)
    const isError = concept.kind === 'name' && /(?:error|exception)$/.test(concept.key)
    for (const { at } of hits)
      if (isError && question.wants.refusal && lines[at]?.shape.constructs) made.add(at)
    if (scope) return
    const sum = hits.reduce((all, { strength }) => all + strength, 0)
    often += (own1 * sum) / (sum + OFTEN_HALF)
    for (const { at, strength } of hits)
      if (lines[at]?.definition?.name !== concept.key) own[at] = (own[at] ?? 0) + strength * own1
  })
  return { presence, own, often, inPath, subjects, made }
}

function findHits(
  { lines }: Outline,
  matched: readonly (MatchedWord | undefined)[],
  concepts: number,
): readonly (readonly Hit[])[] {
  const hits: Hit[][] = Array.from({ length: concepts }, () => [])
  lines.forEach(({ words }, at) => {
    const best = new Map<number, number>()
    for (const word of words)
      for (const { concept, strength } of matched[word]?.matches ?? [])
        if (strength > (best.get(concept) ?? 0)) best.set(concept, strength)
    for (const [concept, strength] of best) hits[concept]?.push({ at, strength })
  })
  return hits
}

/** What each line is worth as a definition. */
function definedWorth(
  { lines, words }: Outline,
  matched: readonly (MatchedWord | undefined)[],
  { subjects }: OutlineFacts,
  { wants, action }: Question,
): Float64Array {
  return Float64Array.from(lines, ({ definition, kind }, i) => {
    if (!definition || kind === 'signature') return 0
    if (subjects.has(i)) return wants.definition ? weight.ASKED_DEFINITION : 0
    const word = matched[definition.word]
    if (!word) return 0
    const parts = words[definition.word]?.parts ?? []
    const isDeed = action !== undefined && word.coverage === 1 && parts.length > 1 && parts.includes(action)
    return (
      weight.DEFINED[definition.kind] * word.worth * word.coverage ** weight.DEFINED_COVERAGE_POWER +
      (isDeed && definition.kind === 'function' ? weight.DEED * word.worth : 0)
    )
  })
}

/** Words that are together in the question and in the line. */
function togetherWorth(line: OutlineLine, measure: Measure): number {
  const { question, weights } = measure
  const { concepts, pairs } = question
  const worthOf = (key: string): number => weights[concepts.findIndex((concept) => concept.key === key)] ?? 0
  const pairWorth = pairs.reduce((sum, [a, b]) => {
    const isThere = line.stems.some((part, i) => part === a && line.stems[i + 1] === b)
    return isThere ? sum + 2 * Math.min(worthOf(a), worthOf(b)) : sum
  }, 0)
  const row = longestRow(measure.words, wordsOf(line.text))
  const rowWorth = Math.max(0, Math.min(weight.ROW_WORDS_MAX, row) - weight.ROW_WORDS_FREE)
  return weight.PAIR * pairWorth + weight.ROW * rowWorth
}

function quotedWorth({ text }: OutlineLine, { quotes }: Question): number {
  return quotes.reduce(
    (sum, quote) =>
      sum +
      weight.QUOTE * matchQuote(quote, text) ** 2 +
      (quote.length >= weight.QUOTE_CHARS_MIN && text.includes(quote) ? weight.WHOLE_QUOTE : 0),
    0,
  )
}
