import { lineAt, type Corpus } from './corpus.ts'

// Where a string appears in the history. A match is a whole word or words: never inside a longer word.

export interface Finder {
  /** The lines that contain the string, ascending, each once. */
  readonly linesWith: (needle: string) => readonly number[]
}

const WORD = /\w+/g

export function createFinder(corpus: Corpus): Finder {
  const places = indexWords(corpus.text)
  const memo = new Map<string, readonly number[]>()
  return {
    linesWith(needle) {
      const known = memo.get(needle)
      if (known) return known
      const found = findLines(corpus, places, needle)
      memo.set(needle, found)
      return found
    },
  }
}

/** Whether `needle` is at `at` and neither end splits a word. */
export function standsAt(text: string, needle: string, at: number): boolean {
  if (at < 0 || !text.startsWith(needle, at)) return false
  const end = at + needle.length
  const cutsBefore = at > 0 && isWordChar(text, at - 1) && isWordChar(text, at)
  const cutsAfter = end < text.length && isWordChar(text, end - 1) && isWordChar(text, end)
  return !cutsBefore && !cutsAfter
}

/** The first offset at or after `from` where the string appears whole, otherwise -1. */
export function findWhole(text: string, needle: string, from = 0): number {
  for (let at = text.indexOf(needle, from); at !== -1; at = text.indexOf(needle, at + 1))
    if (standsAt(text, needle, at)) return at
  return -1
}

function indexWords(text: string): Map<string, number[]> {
  const places = new Map<string, number[]>()
  for (const match of text.matchAll(WORD)) {
    const known = places.get(match[0])
    if (known) known.push(match.index)
    else places.set(match[0], [match.index])
  }
  return places
}

/** Looks only where the string's rarest word is. */
function findLines(corpus: Corpus, places: ReadonlyMap<string, readonly number[]>, needle: string): number[] {
  const rarest = [...needle.matchAll(WORD)]
    .map((match) => ({ offset: match.index, places: places.get(match[0]) ?? [] }))
    .reduce<{ offset: number; places: readonly number[] } | undefined>(
      (best, word) => (best && best.places.length <= word.places.length ? best : word),
      undefined,
    )
  const lines: number[] = []
  for (const place of rarest?.places ?? []) {
    const at = place - (rarest?.offset ?? 0)
    if (!standsAt(corpus.text, needle, at)) continue
    const line = lineAt(corpus, at)
    if (lines.at(-1) !== line) lines.push(line)
  }
  return lines
}

function isWordChar(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return (
    (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95
  )
}
