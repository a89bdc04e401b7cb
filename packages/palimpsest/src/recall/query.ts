// What to look for. Case is ignored; a match with the same case counts more.

export interface RecallQuery {
  readonly text: string
  /** Finds the text as a whole, in any case. */
  readonly phrase: RegExp
  /** Its words, longest first: if the whole text occurs nowhere, a line with all of its words is an answer too. */
  readonly words: readonly RegExp[]
  /** Whether a line of a file may match, before the line is decoded. It gets bytes as characters, including escapes. */
  readonly mayHold: (line: string) => boolean
}

/** A longer query is cut: no one types it, and a pattern has limits too. */
export const QUERY_CHARS_MAX = 2_000
/** More words than this do not make the query more precise. */
const WORDS_MAX = 16

/** Undefined for an empty query. */
export function toQuery(given: string): RecallQuery | undefined {
  const text = given.trim().slice(0, QUERY_CHARS_MAX)
  if (text === '') return undefined
  const parts = text.split(/\s+/u)
  const words = parts.toSorted((a, b) => b.length - a.length).slice(0, WORDS_MAX)
  return {
    text,
    phrase: patternOf(text, 'giu'),
    words: parts.length > 1 ? words.map((word) => patternOf(word, 'iu')) : [],
    mayHold: testOf(text),
  }
}

/** Any white space matches any other, since people do not remember where lines break. */
function patternOf(text: string, flags: string): RegExp {
  const literal = text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`)
  return new RegExp(literal.replaceAll(/\s+/gu, String.raw`\s+`), flags)
}

/** ASCII letters and digits are never escaped in a line, so their longest run must occur. */
function testOf(text: string): (line: string) => boolean {
  const run = (text.match(/[A-Za-z0-9]+/g) ?? []).toSorted((a, b) => b.length - a.length)[0]
  if (run !== undefined) {
    const pattern = new RegExp(run, 'i')
    return (line) => pattern.test(line)
  }
  // Scripts without case occur as their bytes, or escaped.
  if (text.toLowerCase() !== text.toUpperCase()) return () => true
  const first = text.split(/[\s\p{P}\p{S}]+/u).find((word) => word !== '') ?? ''
  if (first === '') return () => true
  const bytes = Array.from(new TextEncoder().encode(first), (byte) => String.fromCharCode(byte)).join('')
  return (line) => line.includes(bytes) || line.includes(String.raw`\u`)
}
