import stringWidth from 'string-width'

// How many columns a text takes on a terminal. What people see as one character is one piece, however many code points it has.

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** Western letters, and the signs our own screens use: one column each, and none joins with the character before it. */
const PLAIN =
  /^[\x20-\x7e\xa1-\xac\xae-\xff\u2010-\u2015\u2018-\u201f\u2022\u2026\u2190-\u2193\u2212\u2500-\u259f\u25b8\u25cb\u25cf\u2610\u2611\u273b]*$/
export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length
  return stringWidth(text)
}

export function splitGraphemes(text: string): readonly string[] {
  if (PLAIN.test(text)) return text.split('')
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment)
}

export function graphemeWidth(piece: string): number {
  return PLAIN.test(piece) ? piece.length : stringWidth(piece)
}

/** As much of the text as fits, with a mark if something was cut. */
export function cutToWidth(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text
  let kept = ''
  let used = 0
  for (const piece of splitGraphemes(text)) {
    const width = graphemeWidth(piece)
    if (used + width > columns - 1) break
    kept += piece
    used += width
  }
  return columns > 0 ? `${kept}…` : ''
}
