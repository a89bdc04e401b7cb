import { STOP_WORDS } from './stop-words.ts'

// Words in the form that the index has. Its tokenizer splits at everything that is no letter or digit, and does not know `camelCase`. So
// pieces of names, and names without their signs, are indexed beside the text.

/** Scripts that write words without spaces: two adjacent characters count as a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{2,}/gu
/** A cheap check whether a text may contain such a script. */
const MAY_BE_UNSPACED = /[\u0e00-\uffff]/

/** A longer name is a hash or an image, and is only searched as a whole, if at all. */
const NAME_CHARS_MAX = 100

/** For the index: pieces of a text's names, and the joined names, each once. */
export function partsOf(text: string): string {
  const names = new Set<string>()
  addCompounds(names, text)
  const parts = new Set<string>()
  for (const name of names) for (const part of piecesOf(name)) parts.add(part)
  if (MAY_BE_UNSPACED.test(text)) for (const pair of pairsOf(text)) parts.add(pair)
  return [...parts].join(' ')
}

const OTHER = 0
const LOWER = 1
const UPPER = 2
const DIGIT = 3
/** Between the pieces of a name or a path. */
const JOINT = 4
const KINDS = kindsOfSigns()

function kindsOfSigns(): Uint8Array {
  const kinds = new Uint8Array(128)
  kinds.fill(LOWER, 0x61, 0x7b)
  kinds.fill(UPPER, 0x41, 0x5b)
  kinds.fill(DIGIT, 0x30, 0x3a)
  for (const sign of '_./-') kinds[sign.charCodeAt(0)] = JOINT
  return kinds
}

/**
 * Names with more than one piece: `a_b`, `a/b.c`, `aB`, `ABc`. Written by hand, since every word of every text passes here and a pattern
 * takes five times as long.
 */
function addCompounds(names: Set<string>, text: string): void {
  const { length } = text
  for (let at = 0; at < length;) {
    const start = at
    let isCompound = false
    let before = OTHER
    let last = OTHER
    for (; at < length; at++) {
      const code = text.charCodeAt(at)
      const kind = code < 128 ? (KINDS[code] ?? OTHER) : OTHER
      // A joint is part of a name only between two of its pieces.
      if (kind === OTHER || (kind === JOINT && (last === OTHER || last === JOINT))) break
      if (kind === UPPER) isCompound ||= last === LOWER || last === DIGIT
      else if (kind === LOWER) isCompound ||= last === UPPER && before === UPPER
      isCompound ||= last === JOINT
      before = last
      last = kind
    }
    const end = last === JOINT ? at - 1 : at
    if (isCompound && end - start <= NAME_CHARS_MAX) names.add(text.slice(start, end))
    if (at === start) at++
  }
}

/** Names repeat, so each is split only once. */
const known = new Map<string, readonly string[]>()
const KNOWN_MAX = 50_000

function piecesOf(name: string): readonly string[] {
  const before = known.get(name)
  if (before) return before
  const pieces = splitName(name)
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(name, pieces)
  return pieces
}

const JOINTS = /[_./-]/
const PIECE = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g

/** The tokenizer splits at signs, so only a change of case inside a word adds pieces. */
function splitName(name: string): readonly string[] {
  const words = name.split(JOINTS)
  const joined = words.length > 1 ? [words.join('').toLowerCase()] : []
  const pieces = words.flatMap((word) => {
    const found = word.match(PIECE) ?? []
    return found.length > 1 ? found.filter((piece) => piece.length > 1) : []
  })
  return [...joined, ...pieces.map((piece) => piece.toLowerCase())]
}

function pairsOf(text: string): readonly string[] {
  return [...text.matchAll(UNSPACED)].flatMap(([run]) => {
    const signs = Array.from(run)
    return signs.slice(1).map((sign, i) => `${signs[i] ?? ''}${sign}`)
  })
}

/** More terms do not make the query more precise, and each costs time. */
const TERMS_MAX = 40

const WORD = /[\p{L}\p{N}\p{M}]+/gu

/** For a query: its words and the pieces of its names, without stop words, unless nothing else is left. */
export function termsOf(query: string): readonly string[] {
  const terms = new Set<string>()
  const names = new Set<string>()
  addCompounds(names, query)
  for (const name of names) for (const part of piecesOf(name)) terms.add(part)
  for (const [word] of query.matchAll(WORD)) terms.add(word.toLowerCase())
  if (MAY_BE_UNSPACED.test(query)) for (const pair of pairsOf(query)) terms.add(pair)
  const telling = [...terms].filter((term) => !STOP_WORDS.has(term))
  return (telling.length > 0 ? telling : [...terms]).slice(0, TERMS_MAX)
}
