// What is looked for. Letters are compared without regard to case; what is the same letter for letter counts more.

export interface RecallQuery {
  readonly text: string
  /** Finds the text as it stands, in any case. */
  readonly phrase: RegExp
  /** Its words, the longest first: where the text as a whole stands nowhere, a line that holds them all is an answer too. */
  readonly words: readonly RegExp[]
  /** Whether a line of a file may hold it, before the line is read: bytes as characters, escapes and all. */
  readonly mayHold: (line: string) => boolean
}

/** A longer query is cut: nobody types it, and a pattern has limits too. */
export const QUERY_CHARS_MAX = 2_000
/** More words than this make no finer question. */
const WORDS_MAX = 16

/** Undefined for a query of nothing. */
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

/** Any space stands for any other: lines are broken elsewhere than they are remembered. */
function patternOf(text: string, flags: string): RegExp {
  const literal = text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`)
  return new RegExp(literal.replaceAll(/\s+/gu, String.raw`\s+`), flags)
}

/** Letters and digits of ASCII are never escaped in a line, so their longest run must be there. */
function testOf(text: string): (line: string) => boolean {
  const run = (text.match(/[A-Za-z0-9]+/g) ?? []).toSorted((a, b) => b.length - a.length)[0]
  if (run !== undefined) {
    const pattern = new RegExp(run, 'i')
    return (line) => pattern.test(line)
  }
  // Scripts without case stand there as their bytes, or escaped.
  if (text.toLowerCase() !== text.toUpperCase()) return () => true
  const first = text.split(/[\s\p{P}\p{S}]+/u).find((word) => word !== '') ?? ''
  if (first === '') return () => true
  const bytes = Array.from(new TextEncoder().encode(first), (byte) => String.fromCharCode(byte)).join('')
  return (line) => line.includes(bytes) || line.includes(String.raw`\u`)
}
