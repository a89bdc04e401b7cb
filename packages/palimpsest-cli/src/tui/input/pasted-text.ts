// A long paste appears in the input as a marker; the paste itself is what gets sent.

/** More than this would push the input off the screen. */
const SHOWN_LINES_MAX = 8
const SHOWN_CHARS_MAX = 800

const MARKER = /\[paste #(\d{1,9}): [^[\]\n]*\]/g
const MARKER_AT_END = /\[paste #\d{1,9}: [^[\]\n]*\]$/
/** No marker is longer. */
const MARKER_CHARS_MAX = 60

export function foldPaste(
  text: string,
  pastes: readonly string[],
): { readonly text: string; readonly pastes: readonly string[] } {
  const lines = text.split('\n').length
  if (lines <= SHOWN_LINES_MAX && text.length <= SHOWN_CHARS_MAX) return { text, pastes }
  const size = lines > 1 ? `${lines} lines` : `${text.length} characters`
  return { text: `[paste #${pastes.length + 1}: ${size}]`, pastes: [...pastes, text] }
}

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i
const FILE_ADDRESS = 'file://'

/** Turns a path to an image, as terminals paste a dropped file, into a mention of it; undefined for any other text. */
export function pastedImage(text: string): string | undefined {
  const bare = text.trim().replace(/^(['"])(.*)\1$/, '$2')
  if (bare.includes('\n') || !IMAGE.test(bare)) return undefined
  const path = bare.startsWith(FILE_ADDRESS)
    ? decodeURIComponent(bare.slice(FILE_ADDRESS.length))
    : bare.replaceAll(/\\(.)/g, '$1')
  if (!/^(?:\/|~\/)/.test(path)) return undefined
  return /\s/.test(path) ? `@"${path}" ` : `@${path} `
}

/** Replaces every marker by its paste. */
export function unfoldPastes(text: string, pastes: readonly string[]): string {
  return text.replaceAll(MARKER, (marker, number: string) => pastes[Number(number) - 1] ?? marker)
}

/** Length of the marker that ends the text; undefined if none does. */
export function markerBefore(text: string): number | undefined {
  return MARKER_AT_END.exec(text.slice(-MARKER_CHARS_MAX))?.[0].length
}
