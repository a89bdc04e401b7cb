import { distinctiveWords, isName } from '../../facts/distinctive-words.ts'
import { memoryText, type Memory } from './memory.ts'

// Which memories say the same, and which say the opposite. Words decide, not a model; in doubt, both stay.

/** Share of the distinctive words of two texts that both must have. With fewer, they are about two things. */
const SAME_SHARE_MIN = 0.8
/** The same for a contradiction, where its own word may differ. */
const TOPIC_SHARE_MIN = 0.7
const TOPIC_WORDS_MIN = 2
/** Share of an older memory that must be named as over for it to end. */
const REVOKED_SHARE_MIN = 0.5

type Said = Pick<Memory, 'description' | 'body'>

/** Normalized: letters and digits, in lower case. */
export function normalText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** The words that tell a text from others: `distinctiveWords`, or a version that remembers them. */
type WordsOf = (text: string) => ReadonlySet<string>

/** Remembers the words of each text, for comparing many with many. */
export function keepWords(): WordsOf {
  const known = new Map<string, ReadonlySet<string>>()
  return (text) => {
    const words = known.get(text) ?? distinctiveWords(text)
    known.set(text, words)
    return words
  }
}

export function findSame<T extends Said>(
  one: Said,
  others: readonly T[],
  wordsOf = keepWords(),
): T | undefined {
  const text = memoryText(one)
  const normal = normalText(text)
  const exact = others.find((other) => normalText(memoryText(other)) === normal)
  return exact ?? others.find((other) => isNearlySame(text, memoryText(other), wordsOf))
}

function isNearlySame(a: string, b: string, wordsOf: WordsOf): boolean {
  const [left, right] = [wordsOf(a), wordsOf(b)]
  if (left.size < TOPIC_WORDS_MIN || share(left, right) < SAME_SHARE_MIN) return false
  // One more number, path or name makes it another fact; so does a "not".
  return (
    sameSet(namesIn(left), namesIn(right)) &&
    isNegative(a) === isNegative(b) &&
    !OVER.test(a) &&
    !OVER.test(b)
  )
}

/** The others that a new statement ends. */
export function findContradicted<T extends Said>(fresh: Said, others: readonly T[]): readonly T[] {
  const wordsOf = keepWords()
  return others.filter((other) => contradicts(fresh.description, other.description, wordsOf))
}

export function contradicts(fresh: string, old: string, wordsOf: WordsOf = distinctiveWords): boolean {
  if (revokes(fresh, old)) return true
  const [left, right] = [wordsOf(fresh), wordsOf(old)]
  const isOpposite = isNegative(fresh) !== isNegative(old)
  if (isOpposite)
    return (
      shared(left, right) >= 1 &&
      share(left, right) >= TOPIC_SHARE_MIN &&
      sameSet(namesIn(left), namesIn(right))
    )
  const [topic, oldTopic] = [withoutValues(left), withoutValues(right)]
  if (topic.size < TOPIC_WORDS_MIN || share(topic, oldTopic) < TOPIC_SHARE_MIN) return false
  const [value, oldValue] = [valuesIn(left), valuesIn(right)]
  return value.size === 1 && oldValue.size === 1 && !sameSet(value, oldValue)
}

const NEGATIVE =
  /\b(?:never|not|no|don'?t|doesn'?t|won'?t|can'?t|cannot|isn'?t|aren'?t|must ?n'?t|should ?n'?t|avoid|without|stop|nie|niemals|nicht|kein\w*|jamais|ne|nunca|não|mai|non|никогда|нельзя)\b|не\s|不要|别|禁止|ない/iu

export function isNegative(text: string): boolean {
  return NEGATIVE.test(text.replaceAll('’', "'"))
}

/** "No longer X", "instead of X", "switched from X": matches what is over. */
const OVER =
  /\b(?:no longer|not? (?:any ?more|longer)|instead of|rather than|(?:switch|mov|chang|migrat)(?:ed|ing|e)? (?:away )?from|replac(?:es|ed|ing)|dropped|gave up|nicht mehr|statt)\s+([^.;,\n]{1,120})/iu

function revokes(fresh: string, old: string): boolean {
  const clause = OVER.exec(fresh)?.[1]
  if (clause === undefined || OVER.test(old)) return false
  // "Moved from A to B": what is over is A.
  const over = distinctiveWords(clause.split(/\b(?:to|with|by|in favou?r of|zu)\b/i)[0] ?? clause)
  const words = distinctiveWords(old)
  const met = [...over].filter((word) => words.has(word)).length
  return over.size > 0 && met === over.size && met / Math.max(1, words.size) >= REVOKED_SHARE_MIN
}

/** A number, a date, a version: a thing has only one. */
function valuesIn(words: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...words].filter((word) => /\d/.test(word) && !word.includes('/')))
}

function withoutValues(words: ReadonlySet<string>): ReadonlySet<string> {
  const values = valuesIn(words)
  return new Set([...words].filter((word) => !values.has(word)))
}

function namesIn(words: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...words].filter(isName))
}

function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return [...a].filter((word) => b.has(word)).length
}

/** Share of all words of both. */
function share(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const both = shared(a, b)
  const all = a.size + b.size - both
  return all === 0 ? 0 : both / all
}

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && shared(a, b) === a.size
}
