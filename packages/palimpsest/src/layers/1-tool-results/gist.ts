import { readResult, tellingLine } from '../../facts/read-result.ts'
import { saysFailed } from '../../facts/verdicts.ts'
import type { ToolResultBlock } from '../../wire/message.ts'

// What a result came to, for when it is not shown: a few consecutive lines as they were.

export interface Gist {
  readonly what: 'failure' | 'end'
  readonly text: string
}

/** Fewest lines with text; with fewer it is seldom clear what they are about. */
const LINES_MIN = 3
const CHARS_MAX = 600

/** The lines around the first that reports a failure; if none does, the last lines. */
export function gistOf(result: Omit<ToolResultBlock, 'content'>, text: string): Gist {
  const lines = text.trimEnd().split('\n')
  if (!readResult({ ...result, content: text }, undefined).failed && !lines.some(saysFailed))
    return { what: 'end', text: around(lines, lines.length - 1) }
  const told = tellingLine(text)
  const words = told.endsWith('…') ? told.slice(0, -1) : told
  const at = lines.findIndex((line) => line.includes(words))
  return { what: 'failure', text: around(lines, Math.max(0, at)) }
}

/** From this line on and, if that is too little, from before it. */
function around(lines: readonly string[], at: number): string {
  let from = at
  let end = at + 1
  const shown = (): readonly string[] => lines.slice(from, end)
  const isShort = (): boolean => shown().filter((line) => /[\p{L}\p{N}]/u.test(line)).length < LINES_MIN
  const fits = (line: string | undefined): boolean =>
    line !== undefined && shown().join('\n').length + line.length < CHARS_MAX
  while (isShort() && end < lines.length && fits(lines[end])) end++
  while (isShort() && from > 0 && fits(lines[from - 1])) from--
  return shown().join('\n').slice(0, CHARS_MAX)
}
