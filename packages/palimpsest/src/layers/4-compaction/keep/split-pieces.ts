// A text in pieces that can be read by themselves: cut where a blank line or a definition's comment begins, else after so many lines.

/** A piece has at least so many lines, or is all there is. */
const LINES_MIN = 5
const LINES_MAX = 20
/** From so many lines on a piece ends where the text offers it. */
const LINES_ENOUGH = 10
/** Longer lines are data that was packed, and no reading. */
const LINE_CHARS_MAX = 600
/** What an agent puts behind the text of a file is none of it. */
const REMINDER = '<system-reminder>'

const NUMBER = /^\s*\d+(?:→|\t|\| |: |:|-)/

/** In the order they stand in; '' in the place of a piece with lines that are too long to be read. */
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
