// Makes text from outside safe for a terminal. Escape sequences can move the cursor, rename the window or fill the clipboard; direction
// marks can make a line read backwards. The model gets the text unchanged; the screen gets this.

/** Control characters except tab and line end; format characters that hide or turn text (not those that join letters); lone surrogates. */
const UNSAFE =
  /[^\P{Cc}\t\n]|[\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]|\p{Cs}/gu

/** The text with everything a terminal might obey made visible: `\x1b[31m`. Drops a carriage return before a line end. */
export function toPrintable(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(UNSAFE, toEscape)
}

/** JSON that no terminal obeys, and that parses to the same value. */
export function toPrintableJson(value: unknown): string {
  return withoutUnsafe(JSON.stringify(value, null, 2))
}

/** The same on one line. */
export function toPrintableLine(value: object): string {
  return withoutUnsafe(JSON.stringify(value))
}

function withoutUnsafe(json: string): string {
  return json.replaceAll(UNSAFE, (character) =>
    Array.from({ length: character.length }, (_, i) => unitEscape(character.charCodeAt(i))).join(''),
  )
}

function unitEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}

function toEscape(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const hex = code.toString(16)
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`
}
