// Splits a long text into pieces that are found and ranked separately.

export interface TextRange {
  readonly from: number
  readonly to: number
}

/** About a screen: what belongs together is close together. */
const LINES_MAX = 30
/** Lines may be long. */
const CHARS_MAX = 6_000
/** A text with more characters gets larger pieces: a log of a hundred thousand lines is one thing, not three thousand. */
const LARGE_CHARS = 1 << 18
const LARGE_PIECE_CHARS = 12_000

/** In order and without gaps; cut at line ends if there are any. */
export function chunkRanges(text: string): readonly TextRange[] {
  const isLarge = text.length > LARGE_CHARS
  const charsMax = isLarge ? LARGE_PIECE_CHARS : CHARS_MAX
  if (text.length <= charsMax && !isLarge && countLines(text) <= LINES_MAX)
    return [{ from: 0, to: text.length }]
  const ranges: TextRange[] = []
  for (let from = 0; from < text.length;) {
    const to = pieceEnd(text, from, charsMax, isLarge ? Infinity : LINES_MAX)
    ranges.push({ from, to })
    from = to
  }
  return ranges
}

function countLines(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1 && lines <= LINES_MAX; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

function pieceEnd(text: string, from: number, charsMax: number, linesMax: number): number {
  const most = Math.min(text.length, from + charsMax)
  let end = from
  for (let line = 0; line < linesMax; line++) {
    const next = text.indexOf('\n', end)
    if (next === -1 || next >= most) break
    end = next + 1
  }
  const isFull = end > from && (text.indexOf('\n', end) !== -1 || text.length > most)
  if (isFull) return end
  return most === text.length ? most : safeEnd(text, most)
}

/** Never inside a character. */
function safeEnd(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}
