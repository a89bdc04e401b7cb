import { findExpressions } from '../words/expressions.ts'
import { relatedStems, type Nearness } from '../words/related-words.ts'
import { splitIdentifier } from '../words/split-identifier.ts'
import { stem } from '../words/stem.ts'
import { wordClass, type WordClass } from '../words/word-classes.ts'
import { readWants, type Wants } from './read-wants.ts'

// What a question is about: names in the code, words, expressions, quoted texts.

export interface Concept {
  /** In lower case, as in the question. */
  readonly text: string
  /** A stem; for a name, the name in lower case. */
  readonly key: string
  readonly kind: 'name' | 'word' | 'expression'
  /** Stems of its parts. */
  readonly parts: readonly string[]
  readonly related: ReadonlyMap<string, Nearness>
  readonly wordClass: WordClass
  /** How much it counts before anything is known about the code. */
  readonly share: number
}

export interface Question {
  readonly text: string
  readonly concepts: readonly Concept[]
  /** Texts in quotation marks, and the like. */
  readonly quotes: readonly string[]
  /** Neighboring words, as stems: `retry delay`. */
  readonly pairs: readonly (readonly [string, string])[]
  /** Runs of words that an author may have written exactly like this. */
  readonly runs: readonly string[]
  readonly wants: Wants
  /** Stem of the verb in a question like `where is the delay computed`; absent in other questions. */
  readonly action?: string
}

const SHARES: { readonly [Class in WordClass]: number } = { stop: 0, frame: 0.35, everyday: 0.6, telling: 1 }
const NAME_SHARE = 1.3
const EXPRESSION_SHARE = 0.8
/** Words of a quoted text are searched together; alone they say little. */
const QUOTED_SHARE = 0.35
const RUN_WORDS = 4
/** A longer question is a document: only its beginning is read. */
const QUESTION_CHARS_MAX = 2_000
const CONCEPTS_MAX = 40

export function readQuestion(asked: string): Question {
  const text = asked.slice(0, QUESTION_CHARS_MAX)
  const lower = text.toLowerCase()
  const quotes = findQuotes(text)
  const found = new Map<string, Concept>()
  const places: Place[] = []
  let at = 0
  for (const token of tokensOf(text)) {
    const isQuoted = quotes.some((quote) => quote.length > token.raw.length && quote.includes(token.raw))
    const share = isQuoted ? QUOTED_SHARE : 1
    if (token.isName || quotes.includes(token.raw)) addName(token.raw, share, found)
    else places.push(...addWords(splitIdentifier(token.raw), { share, at }, found))
    at += splitIdentifier(token.raw).length
  }
  for (const stems of findExpressions(lower)) addExpression(stems, found)
  return {
    text,
    concepts: [...found.values()].map((concept) => dampDefault(concept, lower)).slice(0, CONCEPTS_MAX),
    quotes,
    pairs: places.flatMap(({ key, at }, i) => {
      const next = places[i + 1]
      return next && next.at === at + 1 ? [[key, next.key] as const] : []
    }),
    runs: findRuns(lower),
    wants: readWants(lower),
    ...actionOf(lower),
  }
}

const DONE_WHERE =
  /^\s*(?:where|in which [a-z]+) (?:is|are|was|were|do|does|gets?)\b.*\b([a-z]+ed|made|built|kept|read|sent|set|found|written|split|cut|put)\b[^a-z]*$/

function actionOf(lower: string): { action?: string } {
  const verb = DONE_WHERE.exec(lower)?.[1]
  return verb === undefined ? {} : { action: stem(verb) }
}

/** The whole name of a concept without punctuation, to compare with file names. */
export function bareName({ text }: Pick<Concept, 'text'>): string {
  return text.replace(/[^a-z0-9]/g, '')
}

const QUOTED_TEXT = /"([^"\n]{3,})"|`([^`\n]{2,})`|(?<!\w)'([^'\n]{3,})'(?!\w)|“([^“”\n]{3,})”/g
/** `connection: close` and the like count as quoted texts. */
const LABELLED = /\b[a-z][\w-]*: [a-z][\w-]*/g

function findQuotes(text: string): readonly string[] {
  const quoted = [...text.matchAll(QUOTED_TEXT)].map(([, a, b, c, d]) => a ?? b ?? c ?? d ?? '')
  return [...quoted, ...(text.match(LABELLED) ?? [])]
}

interface Place {
  readonly key: string
  readonly at: number
}

interface Token {
  readonly raw: string
  /** Written like code: with brackets, dots or inner capitals. */
  readonly isName: boolean
}

const TOKEN = /[$.]?[A-Za-z_$][\w$]*(?:[.-][A-Za-z_$][\w$]*)*(?:\(\))?|\d+/g
const NAME_CHARS_MIN = 3

function tokensOf(text: string): readonly Token[] {
  return [...text.matchAll(TOKEN)].flatMap(([written]) => {
    const bare = written.replace(/\(\)$/, '')
    const isMarked = bare !== written || /\w\.\w/.test(bare) || bare.startsWith('.')
    const tokens = bare.replace(/^\./, '').split('.')
    return tokens.map((raw) => ({ raw, isName: (isMarked || hasInnerCapital(raw)) && isNameLike(raw) }))
  })
}

function isNameLike(raw: string): boolean {
  return raw.length >= NAME_CHARS_MIN && !raw.includes('-')
}

function hasInnerCapital(raw: string): boolean {
  return /[a-z0-9][A-Z]|_|\$|[A-Z]{2}[a-z]/.test(raw) && !/^[A-Z]+s$/.test(raw)
}

function addName(raw: string, share: number, found: Map<string, Concept>): void {
  const key = raw.toLowerCase()
  if (found.has(`=${key}`)) return
  found.set(`=${key}`, {
    text: key,
    key,
    kind: 'name',
    parts: splitIdentifier(raw).map(stem),
    related: NO_WORDS,
    wordClass: 'telling',
    share: NAME_SHARE * share,
  })
}

/** Returns the positions of the words that count. */
function addWords(
  words: readonly string[],
  { share, at }: { readonly share: number; readonly at: number },
  found: Map<string, Concept>,
): readonly Place[] {
  return words.flatMap((word, i) => {
    const kind = wordClass(word)
    if (kind === 'stop' || word.length < 2) return []
    const key = stem(word)
    if (!found.has(key)) found.set(key, toWord(word, kind, share))
    return [{ key, at: at + i }]
  })
}

const NO_WORDS: ReadonlyMap<string, Nearness> = new Map()

const NUMERALS: ReadonlyMap<string, string> = new Map(
  'one two three four five six seven eight nine ten'.split(' ').map((word, i) => [word, String(i + 1)]),
)
const NEGATION = /^(?:un|non|in|dis|re)(?=\w{4})/

function toWord(word: string, kind: WordClass, share: number): Concept {
  const key = stem(word)
  const related = new Map(relatedStems(key))
  const bare = stem(word.replace(NEGATION, ''))
  if (bare !== key && !related.has(bare)) related.set(bare, /^(?:un|re)/.test(word) ? 'same' : 'meant')
  const numeral = NUMERALS.get(word)
  if (numeral !== undefined) related.set(numeral, 'same')
  return {
    text: word,
    key,
    kind: 'word',
    parts: [key],
    related,
    wordClass: kind,
    share: share * SHARES[kind],
  }
}

function addExpression([key, ...others]: readonly string[], found: Map<string, Concept>): void {
  if (key === undefined || found.has(key) || found.has(`~${key}`)) return
  const same = others.map((other): [string, Nearness] => [other, 'same'])
  const related = new Map([...relatedStems(key), ...same])
  found.set(`~${key}`, {
    text: key,
    key,
    kind: 'expression',
    parts: [key],
    related,
    wordClass: 'telling',
    share: EXPRESSION_SHARE,
  })
}

/** In "by default" the word asks for a kind of line, not for something with that name. */
function dampDefault(concept: Concept, lower: string): Concept {
  const isManner = concept.text === 'default' && /\b(?:by|the) defaults?\b(?! value)/.test(lower)
  return isManner ? { ...concept, share: concept.share * SHARES.frame } : concept
}

function findRuns(lower: string): readonly string[] {
  const words = lower.match(/[\p{L}\p{N}_$]+/gu) ?? []
  const runs = words.map((_, i) => words.slice(i, i + RUN_WORDS))
  return runs
    .filter((run) => run.length === RUN_WORDS && run.some((word) => wordClass(word) !== 'stop'))
    .map((run) => run.join(' '))
}
