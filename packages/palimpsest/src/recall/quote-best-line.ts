import { quoteAt, type Quote } from './find-quotes.ts'

// If a text has some of the words and no line has all of them: the line with most of them.

/** Endings that a word has in one form and not in another. */
const ENDINGS = /(?:ing|edly|ed|ies|es|ly|ions?|ers?|s|e|y)$/
const STEM_CHARS_MIN = 3

export function quoteBestLine(text: string, terms: readonly string[], score: number): Quote | undefined {
  const stems = terms.map(stemOf)
  let best: { readonly start: number; readonly worth: number } | undefined
  for (let start = 0; start <= text.length;) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const line = text.slice(start, end).toLowerCase()
    // A longer word is a rarer one.
    const worth = stems.reduce((sum, stem) => (line.includes(stem) ? sum + 2 + stem.length : sum), 0)
    const isBetter = worth > (best?.worth ?? 0) || (best === undefined && line.trim() !== '')
    if (isBetter) best = { start, worth }
    start = end + 1
  }
  return best && quoteAt(text, { start: best.start, end: best.start, score })
}

function stemOf(term: string): string {
  const stem = term.replace(ENDINGS, '')
  return stem.length >= STEM_CHARS_MIN ? stem : term
}
