// JSON as text whose bytes must not change. `JSON.parse` followed by `JSON.stringify` may change bytes (1.0, 1e3, big integers,
// integer-like keys move to the front), and prefix bytes are the product. So texts are cut at their own borders, never serialized again.

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** A JSON value as text, exactly as it was received or first rendered. */
export type JsonText = string

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/** The members of an object's text, in order, with the text of each value. The text must be valid JSON. */
export function splitObject(text: JsonText): { key: string; value: JsonText }[] {
  return scanObject(text).map(({ key, valueStart, valueEnd }) => ({
    key,
    value: text.slice(valueStart, valueEnd),
  }))
}

/** The elements of an array's text, in order. The text must be valid JSON. */
export function splitArray(text: JsonText): JsonText[] {
  const elements: JsonText[] = []
  let at = skipSpace(text, skipSpace(text, 0) + 1)
  while (at < text.length && text[at] !== ']') {
    const end = skipValue(text, at)
    elements.push(text.slice(at, end))
    at = skipSpace(text, skipSpace(text, end) + 1)
  }
  return elements
}

/** The text of one member's value, or undefined. If a key is repeated, the last one counts, as in `JSON.parse`. */
export function findMember(text: JsonText, key: string): JsonText | undefined {
  return splitObject(text).findLast((member) => member.key === key)?.value
}

/**
 * The object's text without the named member; the same text if it has none. Nothing else changes, including white space, so that an object
 * with and without a marker differs only by the marker. The key is a plain word: letters, digits, underscores.
 */
export function withoutMember(text: JsonText, key: string): JsonText {
  // A plain word can only be spelled differently with `\u` escapes.
  if (!text.includes(`"${key}"`) && !text.includes('\\u')) return text
  const members = scanObject(text)
  const first = members[0]
  const last = members.at(-1)
  if (!first || !last || !members.some((member) => member.key === key)) return text
  let kept = ''
  for (const [index, member] of members.entries()) {
    if (member.key === key) continue
    // A member keeps the comma and white space before it, unless it is now the first.
    const gapStart = kept === '' ? member.keyStart : (members[index - 1]?.valueEnd ?? member.keyStart)
    kept += text.slice(gapStart, member.valueEnd)
  }
  return text.slice(0, first.keyStart) + kept + text.slice(last.valueEnd)
}

/** The object's text with another member at its end. */
export function withMember(text: JsonText, key: string, value: JsonText): JsonText {
  const body = text.slice(0, text.lastIndexOf('}'))
  const separator = body.trimEnd().endsWith('{') ? '' : ','
  return `${body}${separator}${JSON.stringify(key)}:${value}}`
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `Array.isArray` does not narrow a readonly list of JSON. */
export function isJsonList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** Parses a text from outside. Undefined if it is not JSON, for callers that have nothing to say about that. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The same for callers that can only use an object. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text)
  return isJsonObject(value) ? value : undefined
}

interface Member {
  readonly key: string
  readonly keyStart: number
  readonly valueStart: number
  readonly valueEnd: number
}

function scanObject(text: JsonText): Member[] {
  const members: Member[] = []
  let at = skipSpace(text, skipSpace(text, 0) + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = skipString(text, at)
    const key = parseKey(text.slice(at, keyEnd))
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const valueEnd = skipValue(text, valueStart)
    members.push({ key, keyStart: at, valueStart, valueEnd })
    at = skipSpace(text, skipSpace(text, valueEnd) + 1)
  }
  return members
}

function parseKey(text: string): string {
  const inner = text.slice(1, -1)
  return inner.includes('\\') ? String(JSON.parse(text)) : inner
}

function skipSpace(text: string, at: number): number {
  let code = text.charCodeAt(at)
  while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at)
  return at
}

function skipString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1)
  while (end !== -1) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end + 1
    end = text.indexOf('"', end + 1)
  }
  return text.length
}

function skipValue(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return skipString(text, at)
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(text, at)
  let end = at
  while (end < text.length && !',}] \n\r\t'.includes(text.charAt(end))) end++
  return end
}

/** Where the object or array that begins here ends; the end of the text if it is not closed. */
export function skipNested(text: string, at: number): number {
  let depth = 0
  for (let i = at; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = skipString(text, i) - 1
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return i + 1
  }
  return text.length
}
