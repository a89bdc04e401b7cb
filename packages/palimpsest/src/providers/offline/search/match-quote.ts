/** A text may be put together at run time: so many words in a row are a find. */
const WORDS_IN_A_ROW_MIN = 3
/** Marks and spaces between two words in a row. */
const GAP_CHARS_MAX = 3

/** Which part of a quoted text stands in a line, from 0 to 1. */
export function matchQuote(quote: string, line: string): number {
  const text = line.toLowerCase()
  const wanted = quote.toLowerCase()
  if (text.includes(wanted)) return 1
  const words = wanted.match(/[\p{L}\p{N}]+/gu) ?? []
  if (words.length < WORDS_IN_A_ROW_MIN) return 0
  let [best, row, end] = [0, 0, 0]
  for (const word of words) {
    const next = text.indexOf(word, end)
    const goesOn = row > 0 && next >= 0 && next - end <= GAP_CHARS_MAX
    const at = goesOn ? next : text.indexOf(word)
    row = goesOn ? row + 1 : at >= 0 ? 1 : 0
    if (at >= 0) end = at + word.length
    best = Math.max(best, row)
  }
  return best >= WORDS_IN_A_ROW_MIN ? best / words.length : 0
}
