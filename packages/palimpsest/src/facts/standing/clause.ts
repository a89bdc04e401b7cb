// A sentence as a list of clauses, each of them words with one space between them and one at either end: ` do not commit yet `. So a form
// is a plain pattern over words, whatever the alphabet and the punctuation.

export interface Clause {
  readonly text: string
  /** The clause that it is joined to by "and" or "but", and whose subject it may share. */
  readonly joined?: string
  /** It stood in brackets. The clause around them goes on after them. */
  readonly aside?: true
}

/** Quoted words are somebody else's, or a name. A single quoted word is one. */
const QUOTED = /"[^"\s][^"]{0,400}"|“[^”]{1,400}”|«[^»]{1,400}»|「[^」]{1,400}」/gu
const BRACKETS = /[([（]([^()[\]（）]{1,400})[)\]）]/gu
/** A sign that ends a clause. A hyphen or dot inside a word does not. */
const BREAK = /[,;:!?()[\]{}—–…•→|](?=\s|$)|[，、；：！？（）。—–…]|[([]|\s--?\s|\.(?=\s|$)/u
const NO_WORD = /[^\p{L}\p{M}\p{N}'_./@#$%+\\-]+/u
const EDGES = /^[.'/-]+(?=[\p{L}\p{N}])|(?<=[\p{L}\p{N}])[.'-]+$/gu

const NEVER = /(?!)/

export interface Joints {
  /** Written otherwise, said the same: "don't" is "do not". */
  readonly spelled?: readonly (readonly [RegExp, string])[]
  /** Between two clauses that may share their subject. Has the spaces around it. */
  readonly conjunction: RegExp
  /** Between two that do not: "so", "because". */
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
