import { IRREGULAR_FORMS, WHOLE_WORDS } from './irregular-forms.ts'

// One key for all forms of a word: compute, computed, computation. It need not be a word or be right; it only has to be the same for a
// question and for the code it is about.

/** Longest first. What remains must still distinguish words. */
const SUFFIXES = (
  'ization isation ational fulness ousness iveness ation ition ement ment ness ance ence able ible ally ful less ous ism ist ize ' +
  'ise ive ity ant ent ion ate er or al ic ly'
).split(' ')
const STEM_CHARS_MIN = 4
const UNSTEMMED_CHARS_MAX = 3

const memory = new Map<string, string>()
/** Code has few different words, but memory must stay bounded. */
const MEMORY_MAX = 50_000

export function stem(word: string): string {
  const known = memory.get(word)
  if (known !== undefined) return known
  const found = findStem(word)
  if (memory.size < MEMORY_MAX) memory.set(word, found)
  return found
}

function findStem(word: string): string {
  const base = IRREGULAR_FORMS.get(word.toLowerCase()) ?? word.toLowerCase()
  if (base.length <= UNSTEMMED_CHARS_MAX || /[^a-z]/.test(base)) return base
  const singular = withoutPlural(base)
  const regular = IRREGULAR_FORMS.get(singular) ?? singular
  if (WHOLE_WORDS.has(regular)) return regular
  const present = withoutTense(regular)
  return WHOLE_WORDS.has(present) ? present : trimEnd(withoutSuffix(present))
}

function withoutPlural(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  if (/(?:x|ch|sh|ss|zz)es$/.test(word)) return word.slice(0, -2)
  if (/(?:[^aeiousy]|[aeo]|y)s$/.test(word) && !/(?:ss|us|is)$/.test(word)) return word.slice(0, -1)
  return word
}

function withoutTense(word: string): string {
  const [, root] = /^(.{2,}?[^e])(?:ed|ing|ingly|edly)$/.exec(word) ?? []
  if (root === undefined || !/[aeiouy]/.test(root)) return word
  const single = /([bdfgmnprt])\1$/.test(root) ? root.slice(0, -1) : root.replace(/i$/, 'y')
  const base = IRREGULAR_FORMS.get(single) ?? IRREGULAR_FORMS.get(`${single}e`) ?? single
  return /(?:at|iz|is|iv|u)$/.test(base) && base.length > 5 ? `${base}e` : base
}

function withoutSuffix(word: string): string {
  const suffix = SUFFIXES.find((end) => word.endsWith(end) && word.length - end.length >= STEM_CHARS_MIN)
  return suffix === undefined ? word : word.slice(0, -suffix.length)
}

function trimEnd(word: string): string {
  const soft = word.length > 4 && /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}i` : word
  const short = soft.length > 3 && soft.endsWith('e') ? soft.slice(0, -1) : soft
  return short.length > 4 && /([bdfgmnprt])\1$/.test(short) ? short.slice(0, -1) : short
}

/** A regular expression (for Rust and JavaScript) that finds words with this stem in code, wherever they are in an identifier. */
export function stemPattern(key: string): string {
  if (!/^[a-z0-9]+$/.test(key)) return escapePattern(key)
  const forms = (FORMS_BY_STEM.get(key) ?? []).filter((form) => !form.startsWith(key))
  return [key, ...forms].map(formPattern).join('|')
}

const FORMS_BY_STEM: ReadonlyMap<string, readonly string[]> = Map.groupBy(IRREGULAR_FORMS.keys(), stem)

/** A word begins at an edge, after an underscore, or with a capital inside an identifier. */
function formPattern(form: string): string {
  const open = form.length > UNSTEMMED_CHARS_MAX
  const body = open ? form.replace(/i$/, '[iy]') : form
  const end = open ? '' : '(?:s?\\b|[^a-z])'
  const hump = `${body.charAt(0).toUpperCase()}${body.slice(1)}`
  return `(?:\\b|_)(?i:${body})${end}|[A-Za-z0-9]${hump}${end}`
}

export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/#&~-]/g, '\\$&')
}
