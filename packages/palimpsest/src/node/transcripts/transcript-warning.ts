import type { FileHandle } from 'node:fs/promises'
import type { ChainWarning } from '../../transcript/chain-of.ts'
import { NEWLINE, readBytes } from './file-lines.ts'

/** A problem in a file that did not stop us. The text is for the user. */
export interface TranscriptWarning {
  readonly kind: 'bad-line' | 'joined-line' | 'torn-line' | 'no-header' | 'empty' | ChainWarning['kind']
  readonly text: string
  /** Counted from 1. */
  readonly line?: number
  readonly offset?: number
}

export function badLine(offset: number, line: number, reason: string): TranscriptWarning {
  const text = `${placeText(line, offset)} is skipped and stays in the file: ${reason}`
  return { kind: 'bad-line', text, line, offset }
}

export function joinedLine(offset: number, line: number, remark: string): TranscriptWarning {
  return { kind: 'joined-line', text: `${placeText(line, offset)} is odd: ${remark}`, line, offset }
}

function placeText(line: number, offset: number): string {
  return `line ${line} (at byte ${offset})`
}

/** How much further down lines are in a fork than in its source. */
export interface Shift {
  readonly lines: number
  readonly bytes: number
}

/** Converts a warning about a line of a fork to the line's place in the file that the user named. */
export function asInSource(warning: TranscriptWarning, shift: Shift): TranscriptWarning {
  if (warning.line === undefined || warning.offset === undefined) return warning
  const [line, offset] = [warning.line - shift.lines, warning.offset - shift.bytes]
  const text = warning.text.replace(placeText(warning.line, warning.offset), placeText(line, offset))
  return { ...warning, text, line, offset }
}

export function tornLine(offset: number, bytes: number): TranscriptWarning {
  const text = `the last line (at byte ${offset}, ${bytes} bytes) is incomplete and is left out`
  return { kind: 'torn-line', text, offset }
}

export const EMPTY: TranscriptWarning = { kind: 'empty', text: 'the file is empty' }
export const NO_HEADER: TranscriptWarning = {
  kind: 'no-header',
  text: 'the file has no header of ours: it is read as a transcript of another agent',
}

export function chainWarning(warning: ChainWarning): TranscriptWarning {
  const what =
    warning.kind === 'cycle' ? 'follows itself' : `follows ${warning.parent}, which is not in the file`
  return { kind: warning.kind, text: `entry ${warning.entry} ${what}: the line before it is taken instead` }
}

const CHUNK_BYTES = 1 << 20

/** Line numbers of ascending offsets. Reads the file once: only for warnings. */
export async function lineNumbers(
  handle: FileHandle,
  offsets: readonly number[],
): Promise<readonly number[]> {
  const numbers: number[] = []
  let line = 1
  let at = 0
  for (const offset of offsets) {
    while (at < offset) {
      const chunk = await readBytes(handle, at, Math.min(offset, at + CHUNK_BYTES))
      if (chunk.length === 0) break
      for (let i = chunk.indexOf(NEWLINE); i !== -1; i = chunk.indexOf(NEWLINE, i + 1)) line++
      at += chunk.length
    }
    numbers.push(line)
  }
  return numbers
}
