import stringWidth from 'string-width'

// How many columns a text takes on a terminal. What a person sees as one character is one piece, however many code points it has.

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const PLAIN = /^[\x20-\x7e]*$/
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

/** As much of the text as fits, with a mark where something was cut. */
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
