// Whether a text says a given thing, word for word except for spaces, line breaks and quotation marks.

/** A text prepared for many lookups. */
export interface Page {
  readonly text: string
  /** With its quotation marks. */
  readonly quoted: string
}

export function toPage(...texts: readonly string[]): Page {
  const quoted = spaced(texts.join('\n'))
  return { text: quoted.replace(QUOTES, ''), quoted }
}

/** A shorter string must be found as words of its own. */
const SHORT_CHARS = 24

export function says({ text, quoted }: Page, wanted: string): boolean {
  // A clipped text is found by what is left of it.
  const words = plain(wanted.endsWith('…') ? wanted.slice(0, -1) : wanted).trim()
  // What has only such marks is looked up as it is.
  return words === '' ? quoted.includes(spaced(wanted).trim()) : has(text, words)
}

/** The same for words where every mark counts: the user's own. */
export function quotes({ quoted }: Page, wanted: string): boolean {
  const words = spaced(wanted).trim()
  return words === '' || has(quoted, words)
}

function has(text: string, words: string): boolean {
  if (words.length >= SHORT_CHARS) return text.includes(words)
  for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + 1))
    if (!isLetter(text[at - 1]) && !isLetter(text[at + words.length])) return true
  return false
}

/** Whether both say the same words and nothing else. */
export function isSame(a: string, b: string): boolean {
  return plain(a).trim() === plain(b).trim()
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character)
}

/** Writers choose their own marks: a summary has “it fails” where a tool wrote "it fails" or, in JSON, \\"it fails\\". */
const QUOTES = /[\\"'`´‘’‚‛“”„‟«»‹›]/g

function plain(text: string): string {
  return spaced(text).replace(QUOTES, '')
}

/** Quotation signs of mails and Markdown count as spaces. */
function spaced(text: string): string {
  return ` ${text}`.replace(/\s+(?:>\s*)*/g, ' ')
}
