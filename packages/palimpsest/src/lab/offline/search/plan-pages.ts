import type { Evidence, Page } from './gather-evidence.ts'
import { rankLines } from './rank-lines.ts'
import type { Question } from './read-question.ts'
import type { SearchCall } from './search-calls.ts'

// Which lines to read: around the best known ones, as long as there is room.

/** Lines to read before and after a match; more before it, because the head of a function is above. */
const LINES_BEFORE = 70
const LINES_AFTER = 50
/** A file whose last known line is before this one is read whole, up to the limit. */
const SMALL_FILE_LINES = 420
const SMALL_FILE_LIMIT = 500
const PAGES_MAX = 8
const PAGE_LINES_MAX = 600
/** Most lines of one round: about 20,000 tokens. */
const LINES_MAX = 1_600
const FINDS_MAX = 80

export function planPages(
  { question, evidence }: { readonly question: Question; readonly evidence: Evidence },
  read: string,
): readonly SearchCall[] {
  const { rarities, outlines, pages } = evidence
  const planned = new Map<string, Page[]>()
  const lastLine = new Map(outlines.map(({ path, lines }) => [path, lines.at(-1)?.number ?? 0]))
  let room = LINES_MAX
  for (const { path, line } of rankLines({ question, rarities, outlines }).slice(0, FINDS_MAX)) {
    const had = [...(pages.get(path) ?? []), ...(planned.get(path) ?? [])]
    if (had.some((page) => covers(page, line.number))) continue
    const isSmall = (lastLine.get(path) ?? 0) <= SMALL_FILE_LINES && had.length === 0
    const page = isSmall ? { from: 1, to: SMALL_FILE_LIMIT } : around(line.number)
    const cost = isSmall ? (lastLine.get(path) ?? 0) : page.to - page.from + 1
    if (cost > room || countPages(planned) >= PAGES_MAX) continue
    room -= cost
    planned.set(path, merge([...(planned.get(path) ?? []), page]))
  }
  return [...planned].flatMap(([path, list]) =>
    list.map(({ from, to }) => ({
      name: read,
      input: { file_path: path, offset: from, limit: to - from + 1 },
    })),
  )
}

function around(line: number): Page {
  return { from: Math.max(1, line - LINES_BEFORE), to: line + LINES_AFTER }
}

function covers({ from, to }: Page, line: number): boolean {
  return from <= line && line <= to
}

function countPages(planned: ReadonlyMap<string, readonly Page[]>): number {
  return [...planned.values()].reduce((sum, list) => sum + list.length, 0)
}

/** Joins neighboring pages unless the result is too long. */
function merge(pages: readonly Page[]): Page[] {
  const merged: Page[] = []
  for (const page of pages.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    const joined =
      last && page.from <= last.to + 1 ? { from: last.from, to: Math.max(last.to, page.to) } : undefined
    if (joined && joined.to - joined.from < PAGE_LINES_MAX) merged.splice(-1, 1, joined)
    else merged.push(page)
  }
  return merged
}
