import type { JsonObject } from '../../../wire/json.ts'
import type { KnownLine } from './outline.ts'

// Parses tool results. They are data: nothing in them is ever followed.

export interface ToolResult {
  readonly name: string
  readonly input: JsonObject
  readonly text: string
  readonly isError: boolean
}

export interface Counted {
  readonly counts: ReadonlyMap<string, number>
  /** Number of entries that the list left out. */
  readonly left: number
}

const COUNT_LINE = /^(.+):(\d+)$/
const LEFT_LINE = /^\[(\d+) more (?:entries|files)/

/** Reads lines of `path:count`. */
export function readCounts({ text, isError }: ToolResult): Counted {
  const counts = new Map<string, number>()
  let left = 0
  if (isError) return { counts, left }
  for (const line of text.split('\n')) {
    const [, path, count] = COUNT_LINE.exec(line) ?? []
    if (path !== undefined) counts.set(path, Number(count))
    else left += Number(LEFT_LINE.exec(line)?.[1] ?? 0)
  }
  return { counts, left }
}

/** How many files a list names, including those that it left out. */
export function countFiles({ text, isError }: ToolResult): number {
  if (isError) return 0
  return text
    .split('\n')
    .reduce((sum, line) => sum + (line.startsWith('[') ? Number(LEFT_LINE.exec(line)?.[1] ?? 0) : 1), 0)
}

export interface FoundLine extends KnownLine {
  readonly path: string
}

const CONTENT_LINE = /^(.+?):(\d+):(.*)$/s

/** Reads lines of `path:line:text`. */
export function readMatches({ text, input, isError }: ToolResult): readonly FoundLine[] {
  if (isError) return []
  const asked = typeof input['path'] === 'string' ? input['path'] : undefined
  return text.split('\n').flatMap((line) => {
    const known = asked !== undefined && line.startsWith(`${asked}:`) ? asked : undefined
    const [, found = '', number, rest = ''] =
      known === undefined ? (CONTENT_LINE.exec(line) ?? []) : splitKnown(line, known)
    return number === undefined ? [] : [{ path: found, number: Number(number), text: rest }]
  })
}

function splitKnown(line: string, path: string): readonly (string | undefined)[] {
  const [, number, rest] = /^(\d+):(.*)$/s.exec(line.slice(path.length + 1)) ?? []
  return [line, path, number, rest]
}

const PAGE_LINE = /^\s*(\d+)\t(.*)$/s

/** Reads lines of number, tab, text. */
export function readPage({ text, input, isError }: ToolResult): readonly FoundLine[] {
  const path = input['file_path']
  if (isError || typeof path !== 'string') return []
  return text.split('\n').flatMap((line) => {
    const [, number, rest = ''] = PAGE_LINE.exec(line) ?? []
    return number === undefined ? [] : [{ path, number: Number(number), text: rest }]
  })
}
