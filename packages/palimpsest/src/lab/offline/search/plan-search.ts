import { findAssigned, findScopes } from './find-scopes.ts'
import type { Evidence } from './gather-evidence.ts'
import type { OfferedTools } from './offered-tools.ts'
import { planPages } from './plan-pages.ts'
import { rankFiles } from './rank-files.ts'
import type { Question } from './read-question.ts'
import {
  conceptPattern,
  firstCalls,
  relatedCalls,
  relatedPattern,
  searchedConcepts,
  type SearchCall,
} from './search-calls.ts'

// What to do next, given the question and what is known so far: count words, find their lines in the best files, read around the best
// lines, follow names, read again. Steps that would bring nothing are left out, and there are few of them, so the search always ends.

/** Most rounds of calls before the answer. */
export const ROUNDS_MAX = 6
const FILES_MAX = 6
const FALLBACK_PAGE_LINES = 300

export interface SearchState {
  readonly question: Question
  readonly tools: OfferedTools
  readonly evidence: Evidence
  /** How many rounds of calls this turn has made. */
  readonly rounds: number
}

/** No calls mean that it is time to answer. */
export function planSearch(state: SearchState): readonly SearchCall[] {
  const { question, tools, rounds, evidence } = state
  if (rounds === 0) return firstCalls(question, tools).map(({ call }) => call)
  const isAgain = evidence.relatedCounted.size > 0
  const unseen = rounds === 1 ? countRelated(state) : []
  if (unseen.length > 0) return unseen
  switch (isAgain ? rounds - 1 : rounds) {
    case 1:
      return tools.grep === undefined ? readTops(state) : findLines(state, tools.grep)
    case 2:
      return tools.read === undefined ? [] : readOr(state, tools.read)
    case 3:
      return tools.grep === undefined ? [] : followNames(state, tools.grep)
    case 4:
      return tools.read === undefined ? [] : planPages(state, tools.read)
    default:
      return []
  }
}

function countRelated({ question, tools, evidence }: SearchState): readonly SearchCall[] {
  return relatedCalls(question, tools)
    .filter(({ role }) => role.kind === 'related' && evidence.counts[role.concept]?.files === 0)
    .map(({ call }) => call)
}

/** Reads around the known lines of the best files, or the beginnings of these files if there are none. */
function readOr(state: SearchState, read: string): readonly SearchCall[] {
  const pages = planPages(state, read)
  return pages.length > 0 ? pages : readTops(state)
}

function readTops({ question, evidence, tools }: SearchState): readonly SearchCall[] {
  const { read } = tools
  if (read === undefined) return []
  return rankFiles(question, evidence)
    .slice(0, FILES_MAX)
    .map(({ path }) => ({ name: read, input: { file_path: path, limit: FALLBACK_PAGE_LINES } }))
}

/** Most lines that one search in a file may return. */
const FOUND_LINES_MAX = 240

function findLines({ question, evidence }: SearchState, grep: string): readonly SearchCall[] {
  return rankFiles(question, evidence)
    .slice(0, FILES_MAX)
    .map(({ path }) => ({ pattern: patternFor(path, question, evidence), path, head_limit: FOUND_LINES_MAX }))
    .filter(({ pattern }) => pattern !== '')
    .map((input) => ({ name: grep, input: { ...input, output_mode: 'content', '-n': true } }))
}

/** The most telling words first, as long as they do not match too many lines. */
function patternFor(path: string, question: Question, { counts, rarities }: Evidence): string {
  const worth = (index: number): number => (question.concepts[index]?.share ?? 0) * (rarities[index] ?? 0)
  let room = FOUND_LINES_MAX
  const patterns: string[] = []
  const take = (pattern: string, count: number): void => {
    if (pattern === '' || count === 0 || count > room) return
    room -= count
    patterns.push(pattern)
  }
  const order = searchedConcepts(question).toSorted((a, b) => worth(b) - worth(a) || a - b)
  const concepts = order.flatMap((index) => {
    const concept = question.concepts[index]
    return concept ? [{ concept, count: counts[index] }] : []
  })
  for (const { concept, count } of concepts) take(conceptPattern(concept), count?.exact.get(path) ?? 0)
  for (const { concept, count } of concepts) take(relatedPattern(concept), count?.related.get(path) ?? 0)
  return patterns.join('|')
}

const NAMES_MAX = 12
const FOLLOWED_LINES_MAX = 80
const NAME_CHARS_MIN = 4

/** Names that lead further: what a name of the question was assigned to, what its definition calls. */
function followNames({ question, evidence }: SearchState, grep: string): readonly SearchCall[] {
  const { outlines, rarities } = evidence
  const scopes = findScopes(question.concepts, rarities, outlines)
  const defined = new Set(
    outlines.flatMap(({ lines }) =>
      lines.flatMap(({ definition }) => (definition?.kind === 'function' ? [definition.name] : [])),
    ),
  )
  const assigned = question.concepts.flatMap((concept, i) =>
    scopes[i] ? [] : [...findAssigned(concept, outlines)],
  )
  const called = scopes.flatMap((scope) => [...(scope?.called ?? [])])
  const isTelling = (name: string): boolean => name.length >= NAME_CHARS_MIN && /^[\w$]+$/.test(name)
  const uses = assigned.filter(isTelling).slice(0, NAMES_MAX)
  const wanted = called.filter((name) => isTelling(name) && !defined.has(name) && isRelated(name, question))
  const calls = [
    ...uses.map((name) => `\\b${name}\\b`),
    ...[...new Set(wanted)]
      .slice(0, NAMES_MAX)
      .map((name) => `(?:function|class|const|let|def|fn|func)\\s*\\*?\\s+${name}\\b`),
  ]
  if (calls.length === 0) return []
  const pattern = `(?i:${calls.join('|')})`
  const input = { pattern, output_mode: 'content', '-n': true, head_limit: FOLLOWED_LINES_MAX }
  return [{ name: grep, input }]
}

const SHARED_CHARS_MIN = 3

/** Whether a called name contains a word of the question. The name is in lower case, so it cannot be split into words. */
function isRelated(name: string, { concepts }: Question): boolean {
  return concepts.some(({ parts }) =>
    parts.some((part) => part.length >= SHARED_CHARS_MIN && name.includes(part)),
  )
}
