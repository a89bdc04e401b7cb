import type { JsonObject } from '../../../wire/json.ts'
import { escapePattern, stemPattern } from '../words/stem.ts'
import type { Concept, Question } from './read-question.ts'
import type { OfferedTools } from './offered-tools.ts'

// The calls that turn a question into evidence. Each follows from the question alone or from what earlier calls returned, so the same
// conversation always leads to the same calls.

export interface SearchCall {
  readonly name: string
  readonly input: JsonObject
}

export type FirstRole =
  | { readonly kind: 'exact' | 'related'; readonly concept: number }
  | { readonly kind: 'quotes' | 'runs' | 'files' }

export interface FirstCall {
  readonly role: FirstRole
  readonly call: SearchCall
}

/** Most words to search for, the most telling first. */
const CONCEPTS_MAX = 9
/** Entries in a list of counts: enough to rank by, few enough to send all of them. */
const COUNT_ENTRIES_MAX = 500
const QUOTE_ENTRIES_MAX = 40
const RUNS_MAX = 12
const QUOTE_WORDS_IN_A_ROW = 3
const QUOTE_WINDOWS_MAX = 12

/** The first round: how often each word occurs in which file. */
export function firstCalls(question: Question, { grep, glob }: OfferedTools): readonly FirstCall[] {
  const calls: FirstCall[] = []
  if (grep) {
    const count = (role: FirstRole, pattern: string): void => {
      calls.push({ role, call: countCall(grep, pattern) })
    }
    for (const index of searchedConcepts(question)) {
      const concept = question.concepts[index]
      if (!concept) continue
      count({ kind: 'exact', concept: index }, conceptPattern(concept))
    }
    if (question.quotes.length > 0) {
      const pattern = question.quotes.map(quotePattern).join('|')
      const input = { pattern, output_mode: 'content', '-i': true, head_limit: QUOTE_ENTRIES_MAX }
      calls.push({ role: { kind: 'quotes' }, call: { name: grep, input } })
    }
    const runs = question.runs.slice(0, RUNS_MAX).map((run) => run.split(' ').map(escapePattern).join('\\W+'))
    if (runs.length > 0) count({ kind: 'runs' }, `(?i:${runs.join('|')})`)
  }
  if (glob) calls.push({ role: { kind: 'files' }, call: { name: glob, input: { pattern: '**/*' } } })
  return calls
}

/** The second round: related words. The caller uses those of concepts that occur nowhere. */
export function relatedCalls(question: Question, { grep }: OfferedTools): readonly FirstCall[] {
  if (grep === undefined) return []
  return searchedConcepts(question).flatMap((index) => {
    const concept = question.concepts[index]
    const pattern = concept ? relatedPattern(concept) : ''
    return pattern === ''
      ? []
      : [{ role: { kind: 'related', concept: index }, call: countCall(grep, pattern) }]
  })
}

function countCall(grep: string, pattern: string): SearchCall {
  return { name: grep, input: { pattern, output_mode: 'count', head_limit: COUNT_ENTRIES_MAX } }
}

/** Indexes of the concepts that are worth a search. */
export function searchedConcepts({ concepts }: Question): readonly number[] {
  return concepts
    .map(({ share }, index) => ({ share, index }))
    .toSorted((a, b) => b.share - a.share || a.index - b.index)
    .slice(0, CONCEPTS_MAX)
    .map(({ index }) => index)
}

export function conceptPattern({ kind, key, text }: Concept): string {
  if (kind === 'name') return `(?i:${escapePattern(text)})`
  return stemPattern(key)
}

export function relatedPattern({ related }: Concept): string {
  return [...related.keys()]
    .filter((key) => /\w/.test(key))
    .map(stemPattern)
    .join('|')
}

/** Code may assemble a quoted text at run time, so this searches for any few of its words in sequence. */
function quotePattern(quote: string): string {
  const words = quote.match(/[\p{L}\p{N}_$]+/gu) ?? []
  if (words.length <= QUOTE_WORDS_IN_A_ROW) return escapePattern(quote)
  const windows = words.slice(0, words.length - QUOTE_WORDS_IN_A_ROW + 1).map((_, i) =>
    words
      .slice(i, i + QUOTE_WORDS_IN_A_ROW)
      .map(escapePattern)
      .join('\\W{1,3}'),
  )
  return windows.slice(0, QUOTE_WINDOWS_MAX).join('|')
}
