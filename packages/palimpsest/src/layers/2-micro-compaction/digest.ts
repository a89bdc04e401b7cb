// What is likely to be needed again from a cleared result, found without a model: the strings that only it had, each with the words around
// it, so that the relation survives and not just the word.

/** Longest digest, in characters, in a full-size window. */
export const DIGEST_CHARS_MAX = 1_200

/** Longest piece of a line around an identifier, in characters. */
const CLIP_CHARS = 96

/** Longer lines are one blob (minified, encoded); only their first characters are searched. */
const LINE_CHARS_MAX = 2_000

/**
 * Most specific first: a match of an earlier pattern is worth more. `needs` is cheap and matches wherever `pattern` does, so it is tried
 * first.
 */
const PATTERNS: readonly { readonly pattern: RegExp; readonly needs?: RegExp }[] = [
  // Codes of errors and exceptions.
  {
    pattern: /\b(?:[A-Z][A-Za-z]*(?:Error|Exception)|E[A-Z]{4,}|[A-Z]{1,4}\d{3,5}|0x[0-9a-fA-F]{4,})\b/g,
    needs: /Error|Exception|E[A-Z]{4}|[A-Z]\d{3}|0x/,
  },
  // Commits, digests, UUIDs.
  {
    pattern: /\b(?:[0-9a-f]{8}-[0-9a-f-]{27}|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64})\b/g,
    needs: /[0-9a-f]{7}/,
  },
  { pattern: /\bhttps?:\/\/[^\s"'<>)\]}]+/g, needs: /http/ },
  // Paths and file names.
  {
    pattern: /(?:[\w.@~-]{0,200}\/)+[\w.@+-]+|\b[\w-]{1,200}\.[a-z]{1,5}\b/g,
    needs: /\/[\w.@+-]|[\w-]\.[a-z]/,
  },
  // Names: camel case, with underscores, qualified.
  {
    pattern: /\b[A-Za-z_$][\w$]*(?:[a-z][A-Z]|_[A-Za-z0-9]|\.[A-Za-z_]|::[A-Za-z_])[\w$.:]*/g,
    needs: /[a-z][A-Z]|_[A-Za-z0-9]|\.[A-Za-z_]|::/,
  },
  // Numbers with at least three digits.
  { pattern: /\b\d{3,}(?:\.\d+)?\b/g, needs: /\d{3}/ },
]

interface Found {
  readonly text: string
  readonly rank: number
  readonly line: number
  readonly at: number
}

/** The identifiers of a text, each once, line by line; inside a line, the most specific first. */
export function identifiersOf(text: string): string[] {
  return findIdentifiers(text).map((found) => found.text)
}

/**
 * At most `charsMax` characters: pieces of lines around the new identifiers, chosen by how specific these are, written in the order of the
 * text. Empty if nothing is new.
 */
export function digest(
  text: string,
  isNew: (identifier: string) => boolean,
  charsMax = DIGEST_CHARS_MAX,
): string {
  const lines = text.split('\n')
  const found = findIdentifiers(text).filter((one) => isNew(one.text))
  const clips: { readonly line: number; readonly at: number; readonly text: string }[] = []
  const covered = new Set<string>()
  let left = charsMax
  for (const one of found.toSorted((a, b) => a.rank - b.rank)) {
    if (covered.has(one.text)) continue
    const clip = clipAround(lines[one.line] ?? '', one)
    if (clip.length + 1 > left) continue
    left -= clip.length + 1
    clips.push({ line: one.line, at: one.at, text: clip })
    for (const other of found)
      if (other.line === one.line && clip.includes(other.text)) covered.add(other.text)
  }
  return clips
    .toSorted((a, b) => a.line - b.line || a.at - b.at)
    .map((clip) => clip.text)
    .join('\n')
}

function findIdentifiers(text: string): Found[] {
  const found = new Map<string, Found>()
  text.split('\n').forEach((full, line) => {
    const head = full.slice(0, LINE_CHARS_MAX)
    let rest = head
    PATTERNS.forEach(({ pattern, needs }, rank) => {
      if (needs && !needs.test(rest)) return
      // Later patterns do not see what an earlier one matched.
      rest = rest.replace(pattern, (taken: string, at: number) => {
        if (!found.has(taken)) found.set(taken, { text: taken, rank, line, at })
        return ' '.repeat(taken.length)
      })
    })
  })
  return [...found.values()]
}

/** The line around the identifier, cut at spaces. */
function clipAround(line: string, { text, at }: Found): string {
  const whole = line.trim()
  if (whole.length <= CLIP_CHARS) return whole
  const room = Math.max(0, CLIP_CHARS - text.length)
  const start = Math.max(0, at - Math.floor(room / 2))
  const end = Math.min(line.length, Math.max(at + text.length, start + CLIP_CHARS))
  const from = start === 0 ? 0 : boundaryAfter(line, start, at)
  const to = end === line.length ? end : boundaryBefore(line, end, at + text.length)
  return `${from > 0 ? '…' : ''}${line.slice(from, to).trim()}${to < line.length ? '…' : ''}`
}

function boundaryAfter(line: string, start: number, limit: number): number {
  const space = line.indexOf(' ', start)
  return space >= 0 && space < limit ? space + 1 : start
}

function boundaryBefore(line: string, end: number, limit: number): number {
  const space = line.lastIndexOf(' ', end)
  return space >= limit ? space : end
}
