import { extractTokens, type Token } from './extract.ts'
import { findWhole, standsAt } from './occurrences.ts'

// What one request shows of the history: its lines, word for word, and text that a strategy made. Lines count as they are. Made text
// must pass the checks below, because a list of words costs little and says little.

export interface Sight {
  /** Whether a line of the history is in the request, whole and where the model can read it. */
  readonly shows: (line: number) => boolean
  readonly made: readonly MadeText[]
}

/** A stretch of text that is in the request and in no recorded message. */
export interface MadeText {
  readonly page: MadePage
  readonly start: number
  readonly end: number
}

/** The text and what we found out about it. Pages are immutable, so the findings are kept. */
export interface MadePage {
  readonly text: string
  /** It replaces a tool result and speaks for it; otherwise it is a message of its own. */
  readonly isStandIn: boolean
  readonly places: Map<string, readonly number[]>
  bare: readonly BareToken[] | undefined
}

interface BareToken extends Token {
  /** It is in a word list. */
  readonly isListed: boolean
}

/** Largest distance in characters to another token of the source line for a made text to relate the two. */
export const RELATED_CHARS = 80

/** A list of more bare identifiers than this is a word list: it relates nothing to anything. */
export const BARE_LIST_MAX = 8

/**
 * That many identifiers are a word list if fewer different plain words than this are between them: one word for two identifiers. A
 * word after every eighth, the same word after each, numbers or single letters do not turn a list into a sentence.
 */
const LIST_WORDS_MIN = Math.ceil((BARE_LIST_MAX + 1) / 2)

export function makePage(text: string, isStandIn: boolean): MadePage {
  return { text, isStandIn, places: new Map(), bare: undefined }
}

export function wholePage(page: MadePage): MadeText {
  return { page, start: 0, end: page.text.length }
}

/** Every offset in the made text where the string appears whole. */
export function placesIn(made: MadeText, needle: string): readonly number[] {
  const all = allPlaces(made.page, needle)
  const fits = (at: number): boolean => at >= made.start && at + needle.length <= made.end
  return all.every(fits) ? all : all.filter(fits)
}

/** Whether a made text says the string; a string in a bare list does not count. */
export function mentions(made: MadeText, needle: string): boolean {
  return placesIn(made, needle).some((at) => !isInBareList(made, at))
}

/** Whether the string at an offset is in a list of almost nothing but identifiers that is longer than allowed. */
export function isInBareList(made: MadeText, at: number): boolean {
  const tokens = (made.page.bare ??= findBareLists(made.page.text))
  let low = 0
  let high = tokens.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((tokens[middle]?.at ?? 0) <= at) low = middle
    else high = middle - 1
  }
  const token = tokens[low]
  const covers = token !== undefined && token.at <= at && at < token.at + token.text.length
  return covers && token.isListed
}

/** Whether one of the other tokens is near the one at an offset. */
export function isNear(made: MadeText, at: number, needle: string, others: readonly string[]): boolean {
  const { text } = made.page
  const before = text.slice(Math.max(made.start, at - RELATED_CHARS), at)
  const after = text.slice(at + needle.length, Math.min(made.end, at + needle.length + RELATED_CHARS))
  return others.some((other) => findWhole(before, other) !== -1 || findWhole(after, other) !== -1)
}

/** In longer pages, each string is searched for once. */
const LONG_PAGE_CHARS = 4_000

function allPlaces(page: MadePage, needle: string): readonly number[] {
  const isLong = page.text.length > LONG_PAGE_CHARS
  const known = isLong ? page.places.get(needle) : undefined
  if (known) return known
  const places: number[] = []
  if (needle === '') return places
  for (let at = page.text.indexOf(needle); at !== -1; at = page.text.indexOf(needle, at + 1))
    if (standsAt(page.text, needle, at)) places.push(at)
  if (isLong) page.places.set(needle, places)
  return places
}

const PLAIN_WORD = /[A-Za-z]{2,}/g

/** Any run of tokens one longer than a list may have, with too few different words between them, is part of a list. */
function findBareLists(text: string): BareToken[] {
  const tokens = extractTokens(text)
  const wordsBehind = tokens.map((token, i) =>
    text.slice(token.at + token.text.length, tokens[i + 1]?.at).match(PLAIN_WORD),
  )
  const listed = new Set<number>()
  for (let from = 0; from + BARE_LIST_MAX < tokens.length; from++) {
    const words = new Set(wordsBehind.slice(from, from + BARE_LIST_MAX).flatMap((found) => found ?? []))
    if (words.size >= LIST_WORDS_MIN) continue
    for (let i = from; i <= from + BARE_LIST_MAX; i++) listed.add(i)
  }
  return tokens.map((token, i) => ({ ...token, isListed: listed.has(i) }))
}
