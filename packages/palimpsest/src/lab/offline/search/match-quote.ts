/** A text may be put together at run time: so many words in a row are a find. */
const WORDS_IN_A_ROW_MIN = 3

/** Which part of a quoted text stands in a line, from 0 to 1. */
export function matchQuote(quote: string, line: string): number {
  if (line.toLowerCase().includes(quote.toLowerCase())) return 1
  const words = wordsOf(quote)
  if (words.length < WORDS_IN_A_ROW_MIN) return 0
  const row = longestRow(words, wordsOf(line))
  return row >= WORDS_IN_A_ROW_MIN ? row / words.length : 0
}

export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** How many words stand in a row in both. */
export function longestRow(one: readonly string[], other: readonly string[]): number {
  let best = 0
  let above: readonly number[] = []
  for (const word of one) {
    const row = other.map((found, i) => (found === word ? (above[i - 1] ?? 0) + 1 : 0))
    best = Math.max(best, ...row)
    above = row
  }
  return best
}
