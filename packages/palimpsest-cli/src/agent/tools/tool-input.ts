import { isJsonObject, type Json, type JsonObject } from 'palimpsest/wire'

import { Refusal } from '../refusal.ts'

// Fields of a tool's input, where it arrives. Models sometimes write numbers and booleans as strings; the meaning is clear, so we accept
// them. Everything else is refused with the name of the field.

export function requiredText(input: JsonObject, field: string): string {
  const value = input[field]
  if (typeof value === 'string') return value
  throw new Refusal(
    value === undefined
      ? `The input lacks "${field}". Send the call again with it.`
      : `"${field}" must be a string, not ${kindOf(value)}.`,
  )
}

export function optionalText(input: JsonObject, field: string): string | undefined {
  return input[field] === undefined || input[field] === null ? undefined : requiredText(input, field)
}

export interface NumberRange {
  readonly min: number
  readonly max: number
}

/** A whole number. */
export function optionalInteger(
  input: JsonObject,
  field: string,
  { min, max }: NumberRange,
): number | undefined {
  const value = input[field]
  if (value === undefined || value === null) return undefined
  const number = typeof value === 'string' && /^-?\d+$/.test(value.trim()) ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) return number
  throw new Refusal(`"${field}" must be a whole number from ${min} to ${max}, not ${show(value)}.`)
}

export function optionalFlag(input: JsonObject, field: string): boolean {
  const value = input[field]
  if (value === undefined || value === null || value === false || value === 'false') return false
  if (value === true || value === 'true') return true
  throw new Refusal(`"${field}" must be true or false, not ${show(value)}.`)
}

export function optionalChoice<T extends string>(
  input: JsonObject,
  field: string,
  choices: readonly T[],
): T | undefined {
  const value = optionalText(input, field)
  if (value === undefined) return undefined
  const found = choices.find((choice) => choice === value)
  if (found !== undefined) return found
  throw new Refusal(`"${field}" must be one of ${choices.join(', ')}, not ${show(value)}.`)
}

/** A list of objects. */
export function requiredObjects(input: JsonObject, field: string): readonly JsonObject[] {
  const value = input[field]
  if (!Array.isArray(value)) throw new Refusal(`"${field}" must be a list, not ${kindOf(value)}.`)
  const items: readonly Json[] = value
  return items.map((item, index) => {
    if (isJsonObject(item)) return item
    throw new Refusal(`"${field}" must hold objects; number ${index + 1} is ${kindOf(item)}.`)
  })
}

const SHOWN_CHARS_MAX = 60

function show(value: Json): string {
  const text = JSON.stringify(value)
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}…`
}

function kindOf(value: Json | undefined): string {
  if (value === undefined || value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
