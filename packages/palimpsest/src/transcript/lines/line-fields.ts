import { isJsonList, isJsonObject, type Json, type JsonObject } from '../../wire/json.ts'

// Members of a parsed line, each with the type it must have. If one of our lines has a wrong member, the line is bad, so the accessor
// throws; `decodeLine` turns the error into a problem with this text.

export class FieldError extends Error {
  override readonly name = 'FieldError'
}

export function textField(object: JsonObject, key: string): string {
  const value = object[key]
  return typeof value === 'string' ? value : wrong(key, 'a string')
}

export function numberField(object: JsonObject, key: string): number {
  const value = object[key]
  return typeof value === 'number' ? value : wrong(key, 'a number')
}

export function flagField(object: JsonObject, key: string): boolean {
  const value = object[key]
  return typeof value === 'boolean' ? value : wrong(key, 'true or false')
}

/** Milliseconds since 1970, from an ISO text. */
export function timeField(object: JsonObject, key: string): number {
  const at = Date.parse(textField(object, key))
  return Number.isNaN(at) ? wrong(key, 'a time') : at
}

export function objectField(object: JsonObject, key: string): JsonObject {
  const value = object[key]
  return isJsonObject(value) ? value : wrong(key, 'an object')
}

export function textsField(object: JsonObject, key: string): readonly string[] {
  return listField(object, key).map((item) => (typeof item === 'string' ? item : wrong(key, 'all strings')))
}

export function objectsField(object: JsonObject, key: string): readonly JsonObject[] {
  return listField(object, key).map((item) => (isJsonObject(item) ? item : wrong(key, 'all objects')))
}

export function choiceField<T extends string>(object: JsonObject, key: string, choices: readonly T[]): T {
  const choice = choices.find((name) => name === object[key])
  return choice ?? wrong(key, `one of ${choices.join(', ')}`)
}

function listField(object: JsonObject, key: string): readonly Json[] {
  const value = object[key]
  return isJsonList(value) ? value : wrong(key, 'a list')
}

function wrong(key: string, expected: string): never {
  throw new FieldError(`"${key}" is not ${expected}`)
}
