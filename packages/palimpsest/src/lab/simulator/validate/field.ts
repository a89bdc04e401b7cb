import { isJsonObject, type JsonObject } from '../../../wire/json.ts'
import { refuse, type Refusal } from '../refusal.ts'

// Checks of single fields, worded like the API's schema.

export type FieldKind = 'string' | 'integer' | 'boolean' | 'object' | 'list' | 'any'

/** Fields of one shape: their kind, with a question mark if the field may be absent or null. */
export type Shape = { readonly [name: string]: FieldKind | `${FieldKind}?` }

export function checkShape(value: JsonObject, shape: Shape, path: string): Refusal | undefined {
  for (const name in shape) {
    const wanted = shape[name]
    if (wanted === undefined) continue
    const refusal = checkField(value[name], wanted, path === '' ? name : `${path}.${name}`)
    if (refusal) return refusal
  }
  return undefined
}

export function checkField(
  value: unknown,
  wanted: FieldKind | `${FieldKind}?`,
  path: string,
): Refusal | undefined {
  const optional = wanted.endsWith('?')
  if (value === undefined || (value === null && optional))
    return optional ? undefined : refuse('request.required', { path })
  switch (optional ? wanted.slice(0, -1) : wanted) {
    case 'string':
      return typeof value === 'string' ? undefined : refuse('request.string', { path })
    case 'integer':
      return Number.isInteger(value) ? undefined : refuse('request.integer', { path })
    case 'boolean':
      return typeof value === 'boolean' ? undefined : refuse('request.boolean', { path })
    case 'object':
      return isJsonObject(value) ? undefined : refuse('request.object', { path })
    case 'list':
      return Array.isArray(value) ? undefined : refuse('request.list', { path })
    default:
      return undefined
  }
}

export function checkOneOf(value: unknown, allowed: readonly string[], path: string): Refusal | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && allowed.includes(value)) return undefined
  return refuse('request.one-of', { path, values: oneOfText(allowed) })
}

/** `'a', 'b' or 'c'`, as the API lists what it expects. */
export function oneOfText(allowed: readonly string[]): string {
  const quoted = allowed.map((name) => `'${name}'`)
  const last = quoted.at(-1) ?? ''
  return quoted.length < 2 ? last : `${quoted.slice(0, -1).join(', ')} or ${last}`
}
