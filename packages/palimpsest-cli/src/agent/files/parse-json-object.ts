import { isJsonObject, type JsonObject } from 'palimpsest/wire'

/** For whoever has nothing to say about a text that is no JSON, or no object: undefined then. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
