// Whether a text says a given thing, word for word but for spaces and line breaks.

/** A text made ready for many questions. */
export interface Page {
  readonly text: string
}

export function toPage(...texts: readonly string[]): Page {
  return { text: plain(texts.join('\n')) }
}

/** A short string must stand as words of its own. */
const SHORT_CHARS = 24

export function says({ text }: Page, wanted: string): boolean {
  const words = plain(wanted).trim()
  if (words === '') return true
  if (words.length >= SHORT_CHARS) return text.includes(words)
  for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + 1))
    if (!isLetter(text[at - 1]) && !isLetter(text[at + words.length])) return true
  return false
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character)
}

/** Quotation marks of mails and markdown are spaces too. */
function plain(text: string): string {
  return ` ${text}`.replace(/\s+(?:>\s*)*/g, ' ')
}
