import type { JsonText } from './json.ts'

/** A surrogate pair, half of one, or any other escape, so that text after an escaped backslash is not read as an escape. */
const ESCAPE =
  /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\[^]/g
const HALF_CHARS = 6
const MAY_HOLD_HALVES = /\\u[dD][89a-fA-F]/

/**
 * The text without lone surrogates, either as characters or as escapes: they have no UTF-8, and providers refuse every request that
 * contains one. Returns the same text if there are none.
 */
export function toWellFormedJson(text: JsonText): JsonText {
  const characters = text.toWellFormed()
  if (!MAY_HOLD_HALVES.test(characters)) return characters
  return characters.replaceAll(ESCAPE, (escape) =>
    escape.length === HALF_CHARS && MAY_HOLD_HALVES.test(escape) ? String.raw`\ufffd` : escape,
  )
}
