// A user's message, cut into sentences. It depends on the text alone, so a sentence can be named by its number. The rules:
//
// 1. A fenced code block (``` or ~~~) is one sentence, fences and all. One that is never closed runs to the end.
// 2. A heading, a table row and a list item each begin a sentence of their own, and so does the line after a heading or a row. Markers
//    (`#`, `>`, `-`, `*`, `+`, `1.`, `1)`, `[ ]`) are not part of it.
// 3. An empty line ends a sentence. Any other line break does too, because people who chat leave out the full stop at the end of a line.
//    In a paragraph that is wrapped at a fixed width, it does not.
// 4. Inside a line, a sentence ends after `.`, `!` or `?` and a space, also before a small letter; after 。！？ without a space. It does
//    not end after an abbreviation, after a number it begins with, inside `code`, nor, before a small letter, after a number, after
//    dots of omission or in brackets.
// 5. What has neither letter nor digit (an emoji, a line of dashes) goes with the sentence before it.
// 6. Runs of white space count as one space, except in a code block.

export function splitSentences(text: string): string[] {
  const sentences: string[] = []
  for (const piece of toPieces(text.replaceAll('\r\n', '\n').split('\n')))
    for (const part of piece.kind === 'code' ? [piece.text] : cutPiece(piece.text)) {
      if (HAS_WORD.test(part)) sentences.push(part)
      else if (sentences.length > 0) sentences.push(`${sentences.pop()} ${part}`)
    }
  return sentences
}

/** A code block, or a line of prose (a wrapped paragraph is one line). */
interface Piece {
  readonly kind: 'code' | 'prose'
  readonly text: string
}

const HAS_WORD = /[\p{L}\p{N}]/u
const FENCE = /^\s*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}(?!.*`)|~{3,})/
const MARKER = /^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+(?:\[[ xX]\]\s+)?)/
const TABLE_ROW = /^\s*\|/
/** These end with their line, whatever follows. */
const SINGLE_LINE = /^\s*(?:#{1,6}\s|\|)/

/** Narrower lines are short remarks. */
const WRAP_CHARS_MIN = 60
/** The widest terminals that people copy from; documents are wrapped at 100 at most. Two lines alone are more often two remarks. */
const WRAP_CHARS_MAX = 200
const WRAP_TWO_LINES_CHARS_MAX = 100

function toPieces(lines: readonly string[]): Piece[] {
  const pieces: Piece[] = []
  let paragraph: string[] = []
  const endParagraph = (): void => {
    const texts = isWrapped(paragraph) ? [paragraph.join(' ')] : paragraph
    pieces.push(...texts.map((text): Piece => ({ kind: 'prose', text })))
    paragraph = []
  }
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const fence = FENCE.exec(line)?.[1]
    if (fence !== undefined) {
      endParagraph()
      const end = findFenceEnd(lines, at + 1, fence)
      pieces.push({ kind: 'code', text: lines.slice(at, end).join('\n').trim() })
      at = end - 1
      continue
    }
    const bare = withoutMarkers(line)
    if (bare === '' || MARKER.test(line) || TABLE_ROW.test(line)) endParagraph()
    if (bare !== '') paragraph.push(bare)
    if (SINGLE_LINE.test(line)) endParagraph()
  }
  endParagraph()
  return pieces
}

/** The line after the closing fence. */
function findFenceEnd(lines: readonly string[], from: number, fence: string): number {
  const isEnd = (line: string): boolean => {
    const bare = line.trim()
    return bare.startsWith(fence) && bare.replaceAll(fence.charAt(0), '') === ''
  }
  const end = lines.findIndex((line, at) => at >= from && isEnd(line))
  return end === -1 ? lines.length : end + 1
}

function withoutMarkers(line: string): string {
  const rest = line.replace(MARKER, '')
  return rest === line ? line.trim() : withoutMarkers(rest)
}

/** Whether every line but the last is full: the first word of the next one would not have fitted. */
function isWrapped(lines: readonly string[]): boolean {
  const width = Math.max(0, ...lines.map((line) => line.length))
  const widthMax = lines.length === 2 ? WRAP_TWO_LINES_CHARS_MAX : WRAP_CHARS_MAX
  if (lines.length < 2 || width < WRAP_CHARS_MIN || width > widthMax) return false
  return lines.slice(1).every((line, at) => {
    const word = line.split(/\s/, 1)[0] ?? ''
    return (lines[at] ?? '').length + 1 + word.length > width
  })
}

const STOP = /(?:[.!?…]+["'”’»)\]*_]*(?=\s|$)|[。！？]+[」』”’）)]*)/gu
const ABBREVIATIONS = new Set(
  'e.g i.e eg ie etc vs cf approx resp incl excl nr mr mrs dr st fig sec ca z.b d.h u.a bzw ggf usw evtl p.ej p.ex ex'.split(
    ' ',
  ),
)

function cutPiece(text: string): string[] {
  const flat = text.replaceAll(/\s+/g, ' ').trim()
  // Of the same length, with nothing to stop at inside code.
  const masked = flat.replaceAll(/`[^`]*`/g, (code) => 'x'.repeat(code.length))
  const parts: string[] = []
  let from = 0
  for (const match of masked.matchAll(STOP)) {
    const end = match.index + match[0].length
    if (!endsSentence(masked.slice(from, match.index), match[0], masked.slice(end).trimStart())) continue
    parts.push(flat.slice(from, end).trim())
    from = end
  }
  parts.push(flat.slice(from).trim())
  return parts.filter((part) => part !== '')
}

function endsSentence(before: string, stop: string, after: string): boolean {
  const isBeforeSmall = /^\p{Ll}/u.test(after)
  if (isBeforeSmall && (/[)\]]$/.test(stop) || isInBrackets(before))) return false
  if (/[!?。！？]/.test(stop)) return true
  if (/…|\.\./.test(stop)) return !isBeforeSmall
  const word = before.slice(before.lastIndexOf(' ') + 1).replace(/^[("'“‘«[*_]+/, '')
  if (/^\d+$/.test(word)) return !isBeforeSmall && before.trim().includes(' ')
  return after === '' || !ABBREVIATIONS.has(word.toLowerCase())
}

function isInBrackets(text: string): boolean {
  return text.lastIndexOf('(') > text.lastIndexOf(')')
}
