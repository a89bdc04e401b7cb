import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser'

// JSON with the position of every value, so that an error can name its line. Strict: no comments, no trailing commas.

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
const BYTE_ORDER_MARK = '\uFEFF'

export function parseJsonText(text: string): JsonNode {
  // The length stays the same, so every position stays the same.
  const plain = text.startsWith(BYTE_ORDER_MARK) ? ` ${text.slice(1)}` : text
  requireShallow(plain)
  const errors: ParseError[] = []
  const tree = parseTree(plain, errors, { disallowComments: true, allowTrailingComma: false })
  const [first] = errors
  if (first || !tree) throw new JsonTextError(problemOf(first, plain), first?.offset ?? plain.length)
  // The parser accepts more than JSON allows.
  requireJson(plain)
  return toNode(tree)
}

/** Lines count from 1. */
export function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

const BRACKETS = /"(?:[^"\\\n]|\\.)*"|[[{]|[\]}]/g

/** The parser calls itself for each level. */
function requireShallow(text: string): void {
  let depth = 0
  for (const { 0: found, index } of text.matchAll(BRACKETS)) {
    if (found === '[' || found === '{') depth++
    else if (found === ']' || found === '}') depth--
    if (depth > DEPTH_MAX) throw new JsonTextError('the values are nested too deeply', index)
  }
}

const PROBLEMS: { readonly [code: string]: string } = {
  InvalidNumberFormat: 'a number is malformed',
  PropertyNameExpected: 'a name in double quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a comma or "}" is missing',
  CloseBracketExpected: 'a comma or "]" is missing',
  EndOfFileExpected: 'there is something after the end of the value',
  InvalidCommentToken: 'comments are not allowed',
  UnexpectedEndOfComment: 'comments are not allowed',
  UnexpectedEndOfString: 'the string does not end on its line',
  UnexpectedEndOfNumber: 'a number is malformed',
  InvalidUnicode: 'the string has an invalid escape',
  InvalidEscapeCharacter: 'the string has an invalid escape',
  InvalidCharacter: 'the string contains a control character',
}

function problemOf(error: ParseError | undefined, text: string): string {
  const code = error && printParseErrorCode(error.error)
  if (!error || (error.offset >= text.trimEnd().length && code !== 'UnexpectedEndOfString'))
    return 'the text ends too early'
  if (text.slice(0, error.offset).trimEnd().endsWith(',') && /[\]}]/.test(text.charAt(error.offset)))
    return 'there is a comma before the end'
  if (code === 'InvalidSymbol') return `"${text[error.offset]}" cannot start a value`
  return PROBLEMS[code ?? ''] ?? 'it is malformed'
}

function requireJson(text: string): void {
  try {
    JSON.parse(text)
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    throw new JsonTextError(said, Number(/position (\d+)/.exec(said)?.[1] ?? 0))
  }
}

function toNode({ type, offset: at, value, children = [] }: Node): JsonNode {
  switch (type) {
    case 'object':
      return { kind: 'object', at, members: children.map(toMember) }
    case 'array':
      return { kind: 'array', at, items: children.map(toNode) }
    case 'string':
      return { kind: 'string', at, value: String(value) }
    case 'number':
      return { kind: 'number', at, value: Number(value) }
    case 'boolean':
      return { kind: 'boolean', at, value: value === true }
    default:
      return { kind: 'null', at }
  }
}

function toMember({ offset: at, children: [name, value] = [] }: Node): JsonMember {
  return { key: String(name?.value), at, value: value ? toNode(value) : { kind: 'null', at } }
}
