import { STOP_WORDS } from './stop-words.ts'

// Words as the index has them. Its tokenizer splits at everything that is no letter or digit, and knows no `camelCase`; so pieces of names,
// and names with their signs left out, go beside the text.

/** A name, a path, a number with its signs: what people and programs write without a space. */
const NAME = /[A-Za-z0-9]+(?:[_./-][A-Za-z0-9]+)*/g
const IS_COMPOUND = /[_./-]|[a-z0-9][A-Z]|[A-Z][A-Z][a-z]/
const PIECE = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g
/** Scripts that write words without a space between them: two signs side by side stand for a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{2,}/gu
/** Cheap: whether a text may hold such a script. */
const MAY_BE_UNSPACED = /[\u0e00-\uffff]/

/** A longer name is a hash or a picture, and is looked for whole if at all. */
const NAME_CHARS_MAX = 100

/** Of a text for the index: pieces of its names, and the names joined, each once. */
export function partsOf(text: string): string {
  const parts = new Set<string>()
  for (const name of text.match(NAME) ?? []) for (const part of piecesOf(name)) parts.add(part)
  if (MAY_BE_UNSPACED.test(text)) for (const pair of pairsOf(text)) parts.add(pair)
  return [...parts].join(' ')
}

/** Names come again and again: what one is made of is worked out once. */
const known = new Map<string, readonly string[]>()
const KNOWN_MAX = 50_000
const NONE: readonly string[] = []

function piecesOf(name: string): readonly string[] {
  if (!IS_COMPOUND.test(name) || name.length > NAME_CHARS_MAX) return NONE
  const before = known.get(name)
  if (before) return before
  const pieces = splitName(name)
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(name, pieces)
  return pieces
}

function splitName(name: string): readonly string[] {
  const pieces = (name.match(PIECE) ?? []).filter((piece) => piece.length > 1)
  return [name.replaceAll(/[_./-]/g, ''), ...pieces].map((piece) => piece.toLowerCase())
}

function pairsOf(text: string): readonly string[] {
  return [...text.matchAll(UNSPACED)].flatMap(([run]) => {
    const signs = Array.from(run)
    return signs.slice(1).map((sign, i) => `${signs[i] ?? ''}${sign}`)
  })
}

/** More make the question no finer, and each costs. */
const TERMS_MAX = 40

const WORD = /[\p{L}\p{N}\p{M}]+/gu

/** Of a query: its words and the pieces of its names, without those that say nothing; all of them where nothing else is left. */
export function termsOf(query: string): readonly string[] {
  const terms = new Set<string>()
  for (const name of query.match(NAME) ?? []) for (const part of piecesOf(name)) terms.add(part)
  for (const [word] of query.matchAll(WORD)) terms.add(word.toLowerCase())
  if (MAY_BE_UNSPACED.test(query)) for (const pair of pairsOf(query)) terms.add(pair)
  const telling = [...terms].filter((term) => !STOP_WORDS.has(term))
  return (telling.length > 0 ? telling : [...terms]).slice(0, TERMS_MAX)
}
