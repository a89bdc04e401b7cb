import { isJsonObject, type Json, type JsonObject } from '../../wire/json.ts'

/** Deeper levels become null, because a schema may contain itself. */
const DEPTH_MAX = 8
const STRING_CHARS_MAX = 80

/** The plainest value that a schema allows, with `text` wherever it wants words. It says nothing; it only has the form. */
export function fillSchema(schema: Json | undefined, text: string, depth = 0): Json {
  if (!isJsonObject(schema) || depth > DEPTH_MAX) return null
  const options: unknown = schema['enum']
  if (Array.isArray(options) && options.length > 0) return toJson(options[0])
  if (schema['const'] !== undefined) return schema['const']
  switch (typeOf(schema)) {
    case 'object':
      return fillObject(schema, text, depth)
    case 'array':
      return []
    case 'string':
      return text.slice(0, STRING_CHARS_MAX)
    case 'number':
    case 'integer':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 0
    case 'boolean':
      return false
    default:
      return null
  }
}

function fillObject(schema: JsonObject, text: string, depth: number): JsonObject {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {}
  const required: unknown = schema['required']
  const names = Array.isArray(required) ? required.map(String) : Object.keys(properties)
  return Object.fromEntries(names.map((name) => [name, fillSchema(properties[name], text, depth + 1)]))
}

function typeOf(schema: JsonObject): unknown {
  const type: unknown = schema['type']
  if (Array.isArray(type)) return type[0]
  return type ?? (isJsonObject(schema['properties']) ? 'object' : undefined)
}

function toJson(value: unknown): Json {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}
