import { stripVTControlCharacters } from 'node:util'

import { toPrintable } from '../../agent/printable.ts'
import { line, type StyledLine } from './styled-line.ts'
import { cutToWidth } from './text-width.ts'

// The output of a command, as lines of the screen: without its colors, and for an overwritten line only its final state.

/** The beginning says what the output is, the end how the command went. */
const HEAD_LINES = 4
const TAIL_LINES = 8
const INDENT = '    '

export function outputLines(text: string, columns: number, toAll: string): readonly StyledLine[] {
  const lines = plainLines(text)
  const hidden = lines.length - HEAD_LINES - TAIL_LINES
  // Leaving out a single line would save nothing over the note about it.
  if (hidden <= 1) return lines.map((each) => drawn(each, columns))
  return [
    ...lines.slice(0, HEAD_LINES).map((each) => drawn(each, columns)),
    line(cutToWidth(`${INDENT}… ${hidden} more lines: ${toAll}`, columns), 'dim'),
    ...lines.slice(-TAIL_LINES).map((each) => drawn(each, columns)),
  ]
}

/** The newest lines of a running command's output. */
export function tailLines(text: string, most: number, columns: number): readonly StyledLine[] {
  return plainLines(text)
    .slice(-most)
    .map((each) => drawn(each, columns))
}

function plainLines(text: string): readonly string[] {
  const plain = stripVTControlCharacters(text).trimEnd()
  return plain === '' ? [] : plain.split('\n').map(asLeft)
}

/** A progress bar overwrites its own line. */
function asLeft(text: string): string {
  const ended = text.replace(/\r$/, '')
  return ended.slice(ended.lastIndexOf('\r') + 1)
}

function drawn(text: string, columns: number): StyledLine {
  return line(cutToWidth(INDENT + toPrintable(text.replaceAll('\t', '    ')), columns), 'dim')
}
