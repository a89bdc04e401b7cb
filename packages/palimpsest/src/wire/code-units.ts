// The code units of a text as numbers. Asking a string for one unit at a time takes ten times longer than encoding all of it as UTF-8,
// which engines do at memory speed, and reading that. All code that runs over every character that is sent reads the units here.

/** Fits into a processor's fastest cache. A multiple of 8, so that hash blocks are complete. */
export const UNITS_MAX = 4096
/** Most UTF-8 bytes per unit; a surrogate pair takes 4. */
const BYTES_EACH_MAX = 3

const ENCODER = new TextEncoder()
/** Scratch space: written and read between two calls, never kept. */
const BYTES = new Uint8Array(UNITS_MAX * BYTES_EACH_MAX)
const UNITS = new Uint16Array(UNITS_MAX)
/** Encodes a lone surrogate, and itself. */
const REPLACEMENT = 0xfffd

/** Returns the units of a text with at most `UNITS_MAX` units, in the first places of a buffer that is valid until the next call. */
export function codeUnits(text: string): Uint16Array {
  const { written } = ENCODER.encodeInto(text, BYTES)
  if (written === text.length) UNITS.set(BYTES.subarray(0, written))
  else decodeWide(text, written)
  return UNITS
}

function decodeWide(text: string, end: number): void {
  let to = 0
  for (let at = 0; at < end;) {
    const first = BYTES[at] ?? 0
    if (first < 0x80) {
      UNITS[to++] = first
      at++
    } else if (first < 0xe0) {
      UNITS[to++] = ((first & 0x1f) << 6) | tail(at + 1)
      at += 2
    } else if (first < 0xf0) {
      const unit = ((first & 0xf) << 12) | (tail(at + 1) << 6) | tail(at + 2)
      UNITS[to] = unit === REPLACEMENT ? text.charCodeAt(to) : unit
      to++
      at += 3
    } else {
      const point = ((first & 0x7) << 18) | (tail(at + 1) << 12) | (tail(at + 2) << 6) | tail(at + 3)
      UNITS[to++] = 0xd800 | ((point - 0x10000) >> 10)
      UNITS[to++] = 0xdc00 | (point & 0x3ff)
      at += 4
    }
  }
}

function tail(at: number): number {
  return (BYTES[at] ?? 0) & 0x3f
}
