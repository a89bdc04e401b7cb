import { isJsonObject, type JsonObject } from 'palimpsest/wire'

/** Undefined if the text is no JSON, or no object; for callers that report nothing about it. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
