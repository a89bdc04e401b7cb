import { extractTokens, type Token } from './extract.ts'
import { findWhole, standsAt } from './occurrences.ts'

// What one request shows of the history: lines of it, word for word, and text that a strategy made. Lines count as they stand. Made
// text is held against the guards below, because a list of words costs little and says little.

export interface Sight {
  /** Whether a line of the history is in the request, whole and where the model can read it. */
  readonly shows: (line: number) => boolean
  readonly made: readonly MadeText[]
}

/** A stretch of a text that stands in the request and in no recorded message. */
export interface MadeText {
  readonly page: MadePage
  readonly start: number
  readonly end: number
}

/** The text itself, with what was found out about it. Pages are immutable, so findings are kept. */
export interface MadePage {
  readonly text: string
  /** It stands in a tool result's place and speaks for that result; else it is a message of its own. */
  readonly isStandIn: boolean
  readonly places: Map<string, readonly number[]>
  bare: readonly BareToken[] | undefined
}

interface BareToken extends Token {
  /** It stands in a word list. */
  readonly isListed: boolean
}

/** Another token of the source line must stand this near, in characters, for a made text to keep the two together. */
export const RELATED_CHARS = 80

/** A list of more bare identifiers than this is a word list: it relates nothing to anything. */
export const BARE_LIST_MAX = 8

/**
 * With fewer different plain words than this between them, so many identifiers are bare: one for two. A word put in after every
 * eighth, or the same one after each, numbers and single letters make no sentence of a list.
 */
const LIST_WORDS_MIN = Math.ceil((BARE_LIST_MAX + 1) / 2)

export function makePage(text: string, isStandIn: boolean): MadePage {
  return { text, isStandIn, places: new Map(), bare: undefined }
}

export function wholePage(page: MadePage): MadeText {
  return { page, start: 0, end: page.text.length }
}

/** Every place in the made text where the string stands whole. */
export function placesIn(made: MadeText, needle: string): readonly number[] {
  const all = allPlaces(made.page, needle)
  const fits = (at: number): boolean => at >= made.start && at + needle.length <= made.end
  return all.every(fits) ? all : all.filter(fits)
}

/** Whether a made text says the string; in a bare list it says nothing. */
export function mentions(made: MadeText, needle: string): boolean {
  return placesIn(made, needle).some((at) => !isInBareList(made, at))
}

/** Whether the string at a place stands in a list of hardly anything but identifiers, longer than allowed. */
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

/** Whether one of the other tokens stands near the one at a place. */
export function isNear(made: MadeText, at: number, needle: string, others: readonly string[]): boolean {
  const { text } = made.page
  const before = text.slice(Math.max(made.start, at - RELATED_CHARS), at)
  const after = text.slice(at + needle.length, Math.min(made.end, at + needle.length + RELATED_CHARS))
  return others.some((other) => findWhole(before, other) !== -1 || findWhole(after, other) !== -1)
}

/** Longer pages are searched once per string. */
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

/** Each stretch of one token more than a list may have, with too few different words between its tokens, is part of a list. */
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
