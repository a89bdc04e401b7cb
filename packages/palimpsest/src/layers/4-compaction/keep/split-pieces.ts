// Splits a text into pieces that can be read alone: at a blank line, otherwise after a number of lines.

/** Fewest lines of a piece, unless the text has fewer. */
const LINES_MIN = 5
const LINES_MAX = 20
/** From this many lines on, a piece ends at the next blank line. */
const LINES_ENOUGH = 10
/** Longer lines are packed data and not readable. */
const LINE_CHARS_MAX = 600
/** Agents put this after the text of a file; it is not part of the file. */
const REMINDER = '<system-reminder>'

const NUMBER = /^\s*\d+(?:→|\t|\| |: |:|-)/

/** In text order; '' in place of a piece with lines that are too long to read. */
export function splitPieces(text: string): string[] {
  const pieces: string[][] = [[]]
  for (const line of withoutReminder(text).split('\n')) {
    const piece = pieces.at(-1) ?? []
    const isBlank = line.replace(NUMBER, '').trim() === ''
    if (piece.length >= LINES_MAX || (piece.length >= LINES_ENOUGH && isBlank)) pieces.push([line])
    else piece.push(line)
  }
  const last = pieces.at(-1)
  if (pieces.length > 1 && last && last.length < LINES_MIN) {
    pieces.pop()
    pieces.at(-1)?.push(...last)
  }
  return pieces.map((one) => (one.every((line) => line.length <= LINE_CHARS_MAX) ? one.join('\n') : ''))
}

function withoutReminder(text: string): string {
  const at = text.indexOf(REMINDER)
  return at < 0 ? text : text.slice(0, at).trimEnd()
}
