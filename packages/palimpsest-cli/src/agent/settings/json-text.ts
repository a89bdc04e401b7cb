// JSON with the place of every value, so that what is wrong can be named by its line. Strict: no comments, no trailing commas.

export type JsonNode =
  | { readonly kind: 'object'; readonly at: number; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly at: number; readonly items: readonly JsonNode[] }
  | { readonly kind: 'string'; readonly at: number; readonly value: string }
  | { readonly kind: 'number'; readonly at: number; readonly value: number }
  | { readonly kind: 'boolean'; readonly at: number; readonly value: boolean }
  | { readonly kind: 'null'; readonly at: number }

export interface JsonMember {
  readonly key: string
  readonly at: number
  readonly value: JsonNode
}

export class JsonTextError extends Error {
  override readonly name = 'JsonTextError'
  readonly at: number
  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

/** Deeper than any settings are. */
const DEPTH_MAX = 64

export function parseJsonText(text: string): JsonNode {
  const reader: Reader = { text, at: text.startsWith('\uFEFF') ? 1 : 0 }
  const value = readValue(reader, 0)
  skipSpace(reader)
  if (reader.at < text.length) throw new JsonTextError('something follows the end of the value', reader.at)
  return value
}

/** Lines from 1. */
export function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

interface Reader {
  readonly text: string
  at: number
}

const STRING = /"(?:[^"\\\n]|\\.)*"/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS = { true: true, false: false, null: null } as const

function readValue(reader: Reader, depth: number): JsonNode {
  skipSpace(reader)
  const { text, at } = reader
  if (depth > DEPTH_MAX) throw new JsonTextError('the values are nested too deeply', at)
  const first = text[at]
  if (first === undefined) throw new JsonTextError('the text ends too early', at)
  if (first === '{') return readObject(reader, depth)
  if (first === '[') return readArray(reader, depth)
  if (first === '"') return { kind: 'string', at, value: readString(reader) }
  if (first === '/') throw new JsonTextError('comments are not allowed', at)
  for (const [word, value] of Object.entries(WORDS)) {
    if (!text.startsWith(word, at)) continue
    reader.at += word.length
    return value === null ? { kind: 'null', at } : { kind: 'boolean', at, value }
  }
  const number = take(reader, NUMBER)
  if (number === undefined) throw new JsonTextError(`"${first}" begins no value`, at)
  return { kind: 'number', at, value: Number(number) }
}

function readObject(reader: Reader, depth: number): JsonNode {
  const at = reader.at++
  const members: JsonMember[] = []
  for (;;) {
    skipSpace(reader)
    if (reader.text[reader.at] === '}' && members.length === 0) break
    const keyAt = reader.at
    if (reader.text[keyAt] !== '"') throw new JsonTextError('a name in double quotes is missing', keyAt)
    const key = readString(reader)
    skipSpace(reader)
    if (reader.text[reader.at] !== ':') throw new JsonTextError('a colon is missing', reader.at)
    reader.at++
    members.push({ key, at: keyAt, value: readValue(reader, depth + 1) })
    if (!readComma(reader, '}')) break
  }
  reader.at++
  return { kind: 'object', at, members }
}

function readArray(reader: Reader, depth: number): JsonNode {
  const at = reader.at++
  const items: JsonNode[] = []
  for (;;) {
    skipSpace(reader)
    if (reader.text[reader.at] === ']' && items.length === 0) break
    items.push(readValue(reader, depth + 1))
    if (!readComma(reader, ']')) break
  }
  reader.at++
  return { kind: 'array', at, items }
}

/** True after a comma, false at the end. */
function readComma(reader: Reader, end: string): boolean {
  skipSpace(reader)
  const found = reader.text[reader.at]
  if (found === end) return false
  if (found !== ',') throw new JsonTextError(`a comma or "${end}" is missing`, reader.at)
  const at = reader.at++
  skipSpace(reader)
  if (reader.text[reader.at] === end) throw new JsonTextError('a comma stands before the end', at)
  return true
}

function readString(reader: Reader): string {
  const { at } = reader
  const found = take(reader, STRING)
  if (found === undefined) throw new JsonTextError('the string does not end on its line', at)
  try {
    return String(JSON.parse(found))
  } catch {
    throw new JsonTextError('the string holds a wrong escape or a control character', at)
  }
}

function take(reader: Reader, pattern: RegExp): string | undefined {
  pattern.lastIndex = reader.at
  const [found] = pattern.exec(reader.text) ?? []
  if (found !== undefined) reader.at += found.length
  return found
}

function skipSpace(reader: Reader): void {
  while (' \t\r\n'.includes(reader.text[reader.at] ?? 'x')) reader.at++
}
