import { distinctiveWords, isName } from '../../facts/distinctive-words.ts'
import type { Origin } from '../../transcript/entry.ts'
import type { Evidence } from './evidence.ts'
import type { Trust } from './memory.ts'
import { isNegative, normalText } from './similar-memories.ts'

// Whose words a proposal rests on. Its trust is the lowest in the lineage: if only a tool or a page has said one of its words, the whole
// rests on that. Words that nobody said are the model's own; a few are allowed, names are not.

/** Share of a proposal's distinctive words that may be the model's own: "the user prefers …". */
const OWN_SHARE_MAX = 0.25
/** This many words in a row are no accident: they quote whoever said them. */
const PHRASE_WORDS = 4
const PHRASE_DISTINCTIVE_MIN = 2

/** These words lift rules. They do not show what a sentence is about, but a model that remembers them must have heard them. */
const LIFTING =
  /\b(?:ignor(?:e[ds]?|ing)|forget|revoked?|lifted|obey|unrestricted|instructions?|vergiss|aufgehoben|ignorier\w*|oublie|olvida|esque[cç][ae]|dimentica)\b|забудь|忽略|無視|무시/giu
/** The same, but a model may choose them for "may": a few of them count as its own words. */
const ALLOWING = /\b(?:allow(?:ed|s)?|permit(?:ted|s)?|erlaubt|darfst)\b/giu
/** From this many words on, a sentence of small words alone says something. */
const SMALL_TALK_WORDS_MIN = 4

/** The words that are looked up in what was said. */
function judgedWords(text: string): ReadonlySet<string> {
  const more = [LIFTING, ALLOWING].flatMap((words) => text.toLowerCase().match(words) ?? [])
  return new Set([...distinctiveWords(text), ...more])
}

/** Names, and words that lift rules: the model may not add them. */
function mustBeSaid(word: string): boolean {
  return isName(word) || word.match(LIFTING) !== null
}

/** Sentences without a word to look up: they count only exactly as they were said. */
function smallTalkIn(text: string): readonly string[] {
  return text
    .split(/[.!?;](?=\s|$)|\n/)
    .filter(
      (sentence) =>
        judgedWords(sentence).size === 0 &&
        (sentence.match(/[\p{L}\p{N}]+/gu) ?? []).length >= SMALL_TALK_WORDS_MIN,
    )
}

/** Whether a line says anything that must have been said. */
export function saysSomething(line: string): boolean {
  return judgedWords(line).size > 0 || smallTalkIn(line).length > 0
}

export type Lineage =
  /** Someone said it whom we may believe. */
  | {
      readonly kind: 'said'
      readonly trust: Extract<Trust, 'user' | 'model'>
      readonly ids: readonly string[]
    }
  /** Only these said it. */
  | { readonly kind: 'foreign'; readonly origin: Origin; readonly ids: readonly string[] }
  /** Nobody said these words. */
  | { readonly kind: 'unsaid'; readonly words: readonly string[] }
  /** All who mention it say the opposite. */
  | { readonly kind: 'opposite' }
  /** It has no words to look up. */
  | { readonly kind: 'empty' }

/** Origins that may not be promoted automatically, the least trusted first. What instruction files and hooks say is said again anyway. */
const FOREIGN: readonly Origin[] = ['web', 'mcp', 'peer', 'tool', 'recall', 'memory', 'hook', 'engine']

/** What was said, with its words extracted once. */
interface Heard extends Evidence {
  readonly words: ReadonlySet<string>
  readonly flat: string
}

interface Search {
  readonly text: string
  readonly words: ReadonlySet<string>
  readonly all: readonly Heard[]
}

/** `named`: ids of the messages that it says it rests on. `since`: if it names none, only what was said from this index on counts. */
export function findLineage(
  text: string,
  evidence: readonly Evidence[],
  { named = [], since = 0 }: { readonly named?: readonly string[]; readonly since?: number } = {},
): Lineage {
  const words = judgedWords(text)
  if (words.size === 0) return { kind: 'empty' }
  const all = evidence.map((one) => ({ ...one, words: judgedWords(one.text), flat: flat(one.text) }))
  const search = { text, words, all }
  const wanted = new Set(named)
  const pool = all.filter(({ id }) => wanted.has(id))
  if (pool.length > 0) return believe(search, pool)
  const recent = all.slice(since)
  const sayers = recent.filter((one) => says(one, words))
  const least = FOREIGN.find((origin) => sayers.some((one) => one.origin === origin))
  if (least !== undefined) return foreign(least, sayers)
  return believe(search, sayers.length > 0 ? sayers : recent)
}

/** First the user's messages in the pool, then these with the model's, then anyone else who said it. */
function believe(search: Search, pool: readonly Heard[]): Lineage {
  for (const trust of ['user', 'model'] as const) {
    const heard = pool.filter(({ origin }) => origin === 'user' || origin === trust)
    if (isCovered(search, heard)) {
      if (isOpposite(search, heard)) return { kind: 'opposite' }
      const ids = heard.filter((one) => meets(one.words, search.words))
      return { kind: 'said', trust, ids: idsOf(ids) }
    }
  }
  const { all, words } = search
  const known = all.filter(({ origin }) => origin === 'user' || origin === 'model')
  const missing = missingIn(words, known)
  const sayers = all.filter(
    (one) => FOREIGN.includes(one.origin) && (says(one, words) || meets(one.words, missing)),
  )
  const least = FOREIGN.find((origin) => sayers.some((one) => one.origin === origin))
  if (least !== undefined) return foreign(least, sayers)
  return { kind: 'unsaid', words: asWritten(search.text, missingIn(words, all)) }
}

/** The words as written, not the forms they are compared by, because people read them. */
function asWritten(text: string, missing: ReadonlySet<string>): readonly string[] {
  const written = text.match(/[\p{L}\p{N}_](?:[\p{L}\p{N}_./@:-]*[\p{L}\p{N}_])?/gu) ?? []
  return [...new Set(written.filter((word) => meets(judgedWords(word), missing)))]
}

/** Share of a proposal's words that a sentence must have to be about it. */
const SENTENCE_SHARE_MIN = 0.5

/** "Never push" is no reason to remember "push". */
function isOpposite({ text, words }: Search, heard: readonly Heard[]): boolean {
  const sentences = heard.flatMap((one) => one.text.split(/[.!?;](?=\s)|\n/))
  const speaking = sentences.filter((sentence) => {
    const said = distinctiveWords(sentence)
    return [...words].filter((word) => said.has(word)).length >= words.size * SENTENCE_SHARE_MIN
  })
  return speaking.length > 0 && speaking.every((sentence) => isNegative(sentence) !== isNegative(text))
}

function foreign(origin: Origin, sayers: readonly Evidence[]): Lineage {
  return { kind: 'foreign', origin, ids: idsOf(sayers.filter((one) => one.origin === origin)) }
}

/** Whether these messages support the proposal. What the model repeats from others is not its own: only the user can adopt their words. */
function isCovered({ text, words, all }: Search, heard: readonly Heard[]): boolean {
  const missing = missingIn(words, heard)
  if ([...missing].some(mustBeSaid) || missing.size > words.size * OWN_SHARE_MAX) return false
  const isHeard = (sentence: string): boolean =>
    heard.some((one) => normalText(one.text).includes(normalText(sentence)))
  if (!smallTalkIn(text).every(isHeard)) return false
  const others = all.filter((one) => FOREIGN.includes(one.origin))
  const users = heard.filter(({ origin }) => origin === 'user')
  const unsaid = missingIn(words, users)
  return !others.some((one) => meets(one.words, unsaid)) && !quotes(text, others, users)
}

/** Whether the others have a sequence of words that these do not have. */
function quotes(text: string, others: readonly Heard[], heard: readonly Heard[]): boolean {
  const isIn = (phrase: string, texts: readonly Heard[]): boolean =>
    texts.some((one) => one.flat.includes(phrase))
  return phrasesIn(text).some((phrase) => !isIn(phrase, heard) && isIn(phrase, others))
}

function phrasesIn(text: string): readonly string[] {
  const words = flat(text).trim().split(' ')
  const phrases = words
    .slice(0, Math.max(0, words.length - PHRASE_WORDS + 1))
    .map((_, i) => words.slice(i, i + PHRASE_WORDS))
  return phrases
    .filter((phrase) => distinctiveWords(phrase.join(' ')).size >= PHRASE_DISTINCTIVE_MIN)
    .map((phrase) => ` ${phrase.join(' ')} `)
}

function flat(text: string): string {
  return ` ${text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_./@:-]+/gu, ' ')
    .trim()} `
}

function says(one: Heard, words: ReadonlySet<string>): boolean {
  const missing = missingOf(words, one.words)
  return missing.size <= words.size * OWN_SHARE_MAX && ![...missing].some(mustBeSaid)
}

function missingIn(words: ReadonlySet<string>, heard: readonly Heard[]): ReadonlySet<string> {
  return new Set([...words].filter((word) => !heard.some((one) => one.words.has(word))))
}

function missingOf(words: ReadonlySet<string>, said: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...words].filter((word) => !said.has(word)))
}

function meets(said: ReadonlySet<string>, words: ReadonlySet<string>): boolean {
  return [...words].some((word) => said.has(word))
}

function idsOf(evidence: readonly Evidence[]): readonly string[] {
  return [...new Set(evidence.map(({ id }) => id))]
}
