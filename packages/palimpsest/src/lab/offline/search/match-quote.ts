/** Code may assemble a text at run time, so this many words in sequence count as a match. */
const WORDS_IN_A_ROW_MIN = 3

/** The share of a quoted text that a line contains, from 0 to 1. */
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

/** Length of the longest run of words that both contain. */
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
