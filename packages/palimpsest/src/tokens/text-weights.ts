// How many tokens a character adds, by its class and by what comes before it. Fitted: `docs/tokens.md` says on what. The unit is a token of
// the Claude 4.5 and 4.6 vocabulary; other vocabularies differ by a factor (`calibrate`). No weight is negative, so more text never counts
// less.

/** Characters outside ASCII that a tokenizer treats alike. A surrogate is half an emoji. */
export type WideClass = 'symbol' | 'han' | 'kana' | 'latin' | 'surrogate' | 'other'
export type NarrowClass = 'space' | 'tab' | 'newline' | 'lower' | 'upper' | 'digit' | 'punct'
/** `repeat`: the same punctuation mark or symbol again. Rulers and borders are few tokens. */
export type CharClass = NarrowClass | WideClass | 'repeat'

/** What comes before a character that begins a run. `indent` is white space longer than one space. */
export type Before = 'space' | 'indent' | 'newline' | 'letter' | 'digit' | 'punct' | 'wide'

/**
 * Kinds of run. Lower-case letters are a `word` after white space (the space joins the token), a `capital` after one upper-case letter, and
 * a `tail` after anything else.
 */
export type RunKind =
  | 'space'
  | 'tab'
  | 'newline'
  | 'word'
  | 'tail'
  | 'capital'
  | 'upper'
  | 'digit'
  | 'punct'
  | 'repeat'
  | 'wide'

/** The first character of a run. If a class cannot follow (it would continue the run), the weight is unused. */
export const FIRST: Readonly<Record<Before, Readonly<Record<NarrowClass, number>>>> = {
  space: { space: 0, tab: 1.02, newline: 0.51, lower: 0.78, upper: 0.32, digit: 0, punct: 0.53 },
  indent: { space: 0, tab: 3.1, newline: 0.87, lower: 0.88, upper: 1.15, digit: 0.33, punct: 1.03 },
  newline: { space: 0, tab: 1.16, newline: 0, lower: 1.88, upper: 1.63, digit: 1.1, punct: 1.74 },
  letter: { space: 0.16, tab: 0.99, newline: 0.41, lower: 0, upper: 0.72, digit: 0.61, punct: 0.66 },
  digit: { space: 1.25, tab: 2.01, newline: 1.21, lower: 1.68, upper: 1.89, digit: 0, punct: 1.6 },
  punct: { space: 0.64, tab: 1.25, newline: 0.71, lower: 1.56, upper: 1.72, digit: 0.56, punct: 0 },
  wide: { space: 0.75, tab: 1.83, newline: 0.12, lower: 0.93, upper: 1.34, digit: 0.64, punct: 1.75 },
}

/** The second, third, … character of a run; the last weight applies to all that follow. */
export const FURTHER: Readonly<Record<Exclude<RunKind, 'wide'>, readonly number[]>> = {
  space: [0.44, 0.01],
  tab: [0.59, 0],
  newline: [0.76],
  word: [0.12, 0, 0, 0, 0.09, 0.01, 0.08, 0, 0.09],
  tail: [0, 0.01, 0, 0.21, 0.1, 0, 0, 0, 0.09],
  capital: [0.28, 0, 0.05, 0, 0, 0, 0.17, 0.13, 0.41],
  upper: [0, 1.02, 0],
  digit: [0.04, 0.18, 0.49],
  // No vocabulary has a piece for a long run of different marks.
  punct: [0.18, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03, 0.5],
  repeat: [0.22, 0.01],
}

/** Every character of a wide class, wherever it is. */
export const WIDE: Readonly<Record<WideClass, number>> = {
  symbol: 1.6,
  han: 1.15,
  kana: 1,
  latin: 2.5,
  surrogate: 3.07,
  other: 1.35,
}

/** An accented or Cyrillic letter after another wide one: words of such letters are whole tokens. */
export const LATIN_AFTER_WIDE = 0.15

/** `JSONvalue`: the tokenizer splits the letters of an acronym and of the word after it. */
export const LOWER_AFTER_ACRONYM = 2.78
