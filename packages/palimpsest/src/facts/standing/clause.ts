// A sentence as a list of clauses. Each consists of words with one space between them and one at either end: ` do not commit yet `. So a
// form is a simple pattern over words, whatever the alphabet and punctuation.

export interface Clause {
  readonly text: string
  /** The clause that "and" or "but" joins it to, whose subject it may share. */
  readonly joined?: string
  /** It was in brackets. The clause around them continues after them. */
  readonly aside?: true
}

/** Quoted words are someone else's, or a name. A single quoted word is a name. */
const QUOTED = /"[^"\s][^"]{0,400}"|“[^”]{1,400}”|«[^»]{1,400}»|「[^」]{1,400}」/gu
const BRACKETS = /[([（]([^()[\]（）]{1,400})[)\]）]/gu
/** A sign that ends a clause. A hyphen or dot inside a word does not end one. */
const BREAK = /[,;:!?()[\]{}—–…•→|](?=\s|$)|[，、；：！？（）。—–…]|[([]|\s--?\s|\.(?=\s|$)/u
const NO_WORD = /[^\p{L}\p{M}\p{N}'_./@#$%+\\-]+/u
const EDGES = /^[.'/-]+(?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}])[.'-]+$/gu

const NEVER = /(?!)/

export interface Joints {
  /** Other spellings with the same meaning: "don't" is "do not". */
  readonly spelled?: readonly (readonly [RegExp, string])[]
  /** Between two clauses that may share a subject. Includes the surrounding spaces. */
  readonly conjunction: RegExp
  /** Between two clauses that do not: "so", "because". */
  readonly breaks?: RegExp
}

export function clausesOf(sentence: string, joints: Joints): readonly Clause[] {
  const plain = sentence
    .replaceAll(/[’‘`´]/g, "'")
    .replaceAll(QUOTED, (quote) => (/\s/.test(quote) ? ' … ' : ` ${quote.slice(1, -1)} `))
  const asides = [...plain.matchAll(BRACKETS)].map(([, aside = '']) => aside)
  return [
    ...splitText(plain.replaceAll(BRACKETS, ' '), joints),
    ...asides
      .flatMap((text) => splitText(text, joints))
      .map((clause) => ({ ...clause, aside: true as const })),
  ]
}

function splitText(text: string, { spelled = [], conjunction, breaks = NEVER }: Joints): readonly Clause[] {
  const parts = text
    .split(BREAK)
    .map((part) => spelled.reduce((words, [form, to]) => words.replaceAll(form, to), wordsOf(part)))
    .flatMap((words) => words.split(breaks))
  return parts
    .flatMap((words): readonly Clause[] => {
      const [first = '', ...rest] = words.split(conjunction).map((clause) => ` ${clause.trim()} `)
      return [{ text: first }, ...rest.map((clause) => ({ text: clause, joined: first }))]
    })
    .filter((clause) => clause.text.trim() !== '')
}

function wordsOf(text: string): string {
  const words = text
    .toLowerCase()
    .split(NO_WORD)
    .map((word) => word.replaceAll(EDGES, ''))
    .filter((word) => /[\p{L}\p{N}.]/u.test(word))
  return ` ${words.join(' ')} `
}
