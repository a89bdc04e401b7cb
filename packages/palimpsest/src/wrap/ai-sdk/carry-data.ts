import { isJsonObject, type Json } from '../../wire/json.ts'

// Parts contain bytes and URLs as objects, which JSON does not have. They are converted to marked texts, and back to what they were.

const BYTES = 'ai_sdk_bytes'
const ADDRESS = 'ai_sdk_url'

export function toJson(value: unknown): Json {
  if (value instanceof Uint8Array) return { [BYTES]: base64Of(value) }
  if (value instanceof URL) return { [ADDRESS]: value.href }
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) =>
        member === undefined ? [] : [[name, toJson(member)] as const],
      ),
    )
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return null
}

export function fromJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromJson)
  if (!isJsonObject(value)) return value
  const { [BYTES]: bytes, [ADDRESS]: address } = value
  if (typeof bytes === 'string')
    return Uint8Array.from(atob(bytes), (character) => character.codePointAt(0) ?? 0)
  if (typeof address === 'string') return new URL(address)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fromJson(member)]))
}

function base64Of(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCodePoint(byte)
  return btoa(text)
}
