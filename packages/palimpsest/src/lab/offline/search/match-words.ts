import type { CodeWord } from './outline.ts'
import { ASSIGNED_NAME, INSIDE_MIN, NEARNESS, SIMILAR_NAME } from './ranking-weights.ts'
import type { Concept } from './read-question.ts'

// How well each word of a file matches each concept of a question.

export interface WordMatch {
  readonly concept: number
  /** From 0 to 1. */
  readonly strength: number
}

export interface MatchedWord {
  readonly matches: readonly WordMatch[]
  /** Share of the identifier that the question names, from 0 to 1. */
  readonly coverage: number
  /** What it would be worth as the name of a definition. */
  readonly worth: number
}

export interface MatchInput {
  readonly concepts: readonly Concept[]
  readonly weights: readonly number[]
  /** For each concept, variables that it was assigned to. */
  readonly assigned: readonly ReadonlySet<string>[]
}

/** Words that many identifiers contain and that say little about what these name. */
const WEAK_PARTS: ReadonlySet<string> = new Set(
  'is get set has can to of from on the a do handl creat make with by in for should typ intern default kind'.split(
    ' ',
  ),
)
const WEAK_PART_WEIGHT = 0.25

/** Undefined for a word that has nothing to do with the question. */
export function matchWord(word: CodeWord, input: MatchInput): MatchedWord | undefined {
  const { concepts, weights, assigned } = input
  const exact = concepts.findIndex(({ kind, key }) => kind === 'name' && bareKey(key) === word.name)
  const parts = word.parts.map((part) => bestConcept(part, concepts, weights))
  const coverage = exact >= 0 ? 1 : coverageOf(word.parts, parts)
  const strengths = new Map<number, number>()
  const raise = (concept: number, strength: number): void => {
    if (strength > (strengths.get(concept) ?? 0)) strengths.set(concept, strength)
  }
  if (exact >= 0) raise(exact, 1)
  const share = word.parts.length > 1 ? INSIDE_MIN + (1 - INSIDE_MIN) * coverage : 1
  concepts.forEach((concept, i) => {
    for (const part of word.parts) raise(i, share * partStrength(concept, part))
    if (joinsTo(word, concept)) raise(i, share)
    raise(i, SIMILAR_NAME * similarity(concept, word))
    if (assigned[i]?.has(word.name)) raise(i, ASSIGNED_NAME)
  })
  if (strengths.size === 0) return undefined
  const worth = exact >= 0 ? 0 : parts.reduce((sum, { worth: own }) => sum + own, 0)
  return { matches: [...strengths].map(([concept, strength]) => ({ concept, strength })), coverage, worth }
}

/** How well a stem matches a concept. */
export function partStrength(concept: Concept, part: string): number {
  if (concept.kind === 'name') return concept.parts.length === 1 && concept.parts[0] === part ? 1 : 0
  if (concept.key === part) return 1
  const nearness = concept.related.get(part)
  return nearness === undefined ? 0 : NEARNESS[nearness]
}

function bareKey(key: string): string {
  return key.replace(/^[_$#]+/, '')
}

interface PartMatch {
  readonly strength: number
  readonly worth: number
}

const NO_MATCH: PartMatch = { strength: 0, worth: 0 }

function bestConcept(part: string, concepts: readonly Concept[], weights: readonly number[]): PartMatch {
  return concepts.reduce((best, concept, i) => {
    const strength = partStrength(concept, part)
    const worth = strength * (weights[i] ?? 0)
    return worth > best.worth ? { strength, worth } : best
  }, NO_MATCH)
}

function coverageOf(parts: readonly string[], matches: readonly PartMatch[]): number {
  let covered = 0
  let all = 0
  parts.forEach((part, i) => {
    const weight = WEAK_PARTS.has(part) ? WEAK_PART_WEIGHT : 1
    all += weight
    covered += weight * (matches[i]?.strength ?? 0)
  })
  return all === 0 ? 0 : covered / all
}

/** Matches `keepalive` in a question with `keepAlive` in code. */
function joinsTo({ parts }: CodeWord, { kind, key }: Concept): boolean {
  return kind !== 'name' && parts.some((part, i) => i > 0 && `${parts[i - 1]}${part}` === key)
}

const SIMILAR_PARTS_MIN = 2
const SIMILAR_OF_NAME_MIN = 0.5
const SIMILAR_OF_WORD_MIN = 0.66

/** Matches `kMaxRequests` with `maxRequestsPerClient`. */
function similarity({ kind, parts }: Concept, word: CodeWord): number {
  if (kind !== 'name' || parts.length < SIMILAR_PARTS_MIN || word.parts.length < SIMILAR_PARTS_MIN) return 0
  const shared = parts.filter((part) => word.parts.includes(part)).length
  const isSimilar =
    shared >= SIMILAR_PARTS_MIN &&
    shared / parts.length >= SIMILAR_OF_NAME_MIN &&
    shared / word.parts.length >= SIMILAR_OF_WORD_MIN
  return isSimilar ? shared / Math.max(parts.length, word.parts.length) : 0
}
