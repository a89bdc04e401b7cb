import type { JsonText } from './json.ts'

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/**
 * Deepest nesting that is accepted. `JSON.parse` reads any depth, but nothing that walks a value does: serializing it again overflows the
 * stack. Parsers in other languages stop at 128, and no tool needs an input with more than a few levels.
 */
export const JSON_DEPTH_MAX = 100

/** Whether a text is nested deeper than accepted. It need not be valid JSON. */
export function isTooDeep(text: JsonText): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (inString) {
      if (code === BACKSLASH) i++
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      if (++depth > JSON_DEPTH_MAX) return true
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth--
  }
  return false
}
