// How many columns a text takes on a terminal. What a person sees as one character is one piece, however many code points it has.

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const PLAIN = /^[\x20-\x7e]*$/
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F|\p{Regional_Indicator}{2}/u
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u

/** First and last of the ranges that East Asian terminals draw two columns wide. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x20000, 0x3fffd],
]

export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length
  return splitGraphemes(text).reduce((sum, piece) => sum + graphemeWidth(piece), 0)
}

export function splitGraphemes(text: string): readonly string[] {
  if (PLAIN.test(text)) return text.split('')
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment)
}

export function graphemeWidth(piece: string): number {
  const code = piece.codePointAt(0) ?? 0
  if (code >= 0x20 && code <= 0x7e && piece.length === 1) return 1
  if (NO_WIDTH.test(piece)) return 0
  if (EMOJI.test(piece)) return 2
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1
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
