import { isJsonObject } from './json.ts'

// Shapes of data from outside: what must be there, and of what kind. What a shape does not name is left alone, so that fields and types of
// a newer API pass through.

/** What is wrong and where, in words for whoever made the data. */
export interface Problem {
  /** Such as `messages.3.content.0.tool_use_id`; empty for the value itself. */
  readonly path: string
  readonly expected: string
  readonly found: string
}

export type Shape = (value: unknown, path: string) => Problem | undefined

export const aString = kind('a string', (value) => typeof value === 'string')
export const aBoolean = kind('true or false', (value) => typeof value === 'boolean')
export const aCount = kind(
  'a whole number, 0 or more',
  (value) => Number.isInteger(value) && Number(value) >= 0,
)
export const aNumber = kind('a number', (value) => typeof value === 'number')
export const anObject = kind('an object', isJsonObject)

/** Anything except undefined. */
export const aValue = kind('a value', (value) => value !== undefined)

export function literal(...allowed: readonly string[]): Shape {
  const expected = allowed.map((text) => `"${text}"`).join(' or ')
  return kind(expected, (value) => typeof value === 'string' && allowed.includes(value))
}

/** Absent, null, or of the given shape. */
export function optional(shape: Shape): Shape {
  return (value, path) => (value === undefined || value === null ? undefined : shape(value, path))
}

export function listOf(shape: Shape): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return problem(path, 'an array', value)
    for (const [index, element] of value.entries()) {
      const found = shape(element, join(path, String(index)))
      if (found) return found
    }
    return undefined
  }
}

/** A string, or of the given shape. */
export function stringOr(shape: Shape): Shape {
  return (value, path) => (typeof value === 'string' ? undefined : shape(value, path))
}

export function objectWith(fields: { readonly [name: string]: Shape }): Shape {
  const entries = Object.entries(fields)
  return (value, path) => {
    if (!isJsonObject(value)) return problem(path, 'an object', value)
    for (const [name, shape] of entries) {
      const found = shape(value[name], join(path, name))
      if (found) return found
    }
    return undefined
  }
}

/** An object whose `type` determines what else must be there. Unlisted types pass as they are. */
export function byType(shapes: { readonly [type: string]: Shape }): Shape {
  const known = new Map(Object.entries(shapes))
  return (value, path) => {
    if (!isJsonObject(value)) return problem(path, 'an object', value)
    const { type } = value
    if (typeof type !== 'string') return problem(join(path, 'type'), 'a string', type)
    return known.get(type)?.(value, path)
  }
}

/** One sentence: where, what was expected, what was found. */
export function problemText({ path, expected, found }: Problem): string {
  return `${path === '' ? 'the value' : path}: expected ${expected}, found ${found}`
}

function kind(expected: string, holds: (value: unknown) => boolean): Shape {
  return (value, path) => (holds(value) ? undefined : problem(path, expected, value))
}

function problem(path: string, expected: string, value: unknown): Problem {
  return { path, expected, found: describe(value) }
}

/** Longest text that is quoted: enough to recognize it, not enough to leak it. */
const FOUND_CHARS_MAX = 40

function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'string')
    return value.length > FOUND_CHARS_MAX ? 'a long string' : JSON.stringify(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
