import type { JsonText } from './json.ts'

/** A pair, a half of one, or any other escape: so that what follows an escaped backslash is no escape. */
const ESCAPE =
  /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\[^]/g
const HALF_CHARS = 6
const MAY_HOLD_HALVES = /\\u[dD][89a-fA-F]/

/**
 * The text with no half of a surrogate pair in it, neither as a character nor as an escape: such a half has no UTF-8, and providers refuse
 * every request that holds one. The same text where there is none.
 */
export function toWellFormedJson(text: JsonText): JsonText {
  const characters = text.toWellFormed()
  if (!MAY_HOLD_HALVES.test(characters)) return characters
  return characters.replaceAll(ESCAPE, (escape) =>
    escape.length === HALF_CHARS && MAY_HOLD_HALVES.test(escape) ? String.raw`\ufffd` : escape,
  )
}
