import { isJsonList, isJsonObject, type Json, type JsonObject } from '../../../wire/json.ts'

// Reads foreign JSON: a field of another kind than asked for counts as missing.

export function textField(object: JsonObject | undefined, key: string): string | undefined {
  const value = object?.[key]
  return typeof value === 'string' ? value : undefined
}

export function numberField(object: JsonObject | undefined, key: string): number | undefined {
  const value = object?.[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

export function objectField(object: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = object?.[key]
  return isJsonObject(value) ? value : undefined
}

export function listField(object: JsonObject | undefined, key: string): readonly Json[] {
  const value = object?.[key]
  return isJsonList(value) ? value : []
}

export function objectsField(object: JsonObject | undefined, key: string): readonly JsonObject[] {
  return listField(object, key).filter(isJsonObject)
}

export function textsField(object: JsonObject | undefined, key: string): readonly string[] {
  return listField(object, key).filter((item) => typeof item === 'string')
}

/** Milliseconds, from an ISO text or a number; NaN if the field is neither. */
export function timeField(object: JsonObject | undefined, key: string): number {
  const value = object?.[key]
  if (typeof value === 'number') return value
  return typeof value === 'string' ? Date.parse(value) : Number.NaN
}
