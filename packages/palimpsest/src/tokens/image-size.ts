// Width and height from the first bytes of an image, if its format has them there.

export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** A JPEG has its size after its metadata; beyond this many characters it is not searched. */
const HEAD_CHARS = 64 * 1024

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47]
const GIF_SIGNATURE = [0x47, 0x49, 0x46, 0x38]
const JPEG_SIGNATURE = [0xff, 0xd8]
const RIFF_SIGNATURE = [0x52, 0x49, 0x46, 0x46]

/** The size of a PNG, GIF, JPEG or WebP image in base64, or undefined. */
export function findImageSize(base64: string): ImageSize | undefined {
  const bytes = decodeHead(base64)
  const size = readSize(bytes)
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
}

function readSize(bytes: Uint8Array): ImageSize | undefined {
  if (startsWith(bytes, PNG_SIGNATURE)) return { width: big32(bytes, 16), height: big32(bytes, 20) }
  if (startsWith(bytes, GIF_SIGNATURE)) return { width: little16(bytes, 6), height: little16(bytes, 8) }
  if (startsWith(bytes, JPEG_SIGNATURE)) return readJpegSize(bytes)
  if (startsWith(bytes, RIFF_SIGNATURE)) return readWebpSize(bytes)
  return undefined
}

/** Segments `FF xx length …` up to the first frame header (C0–CF, except the three that share the range). */
function readJpegSize(bytes: Uint8Array): ImageSize | undefined {
  let at = 2
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { width: big16(bytes, at + 7), height: big16(bytes, at + 5) }
    at += 2 + big16(bytes, at + 2)
  }
  return undefined
}

/** The three WebP chunks that contain a size: lossy, lossless, extended. */
function readWebpSize(bytes: Uint8Array): ImageSize | undefined {
  const chunk = String.fromCharCode(...bytes.slice(12, 16))
  switch (chunk) {
    case 'VP8 ':
      return { width: little16(bytes, 26) & 0x3fff, height: little16(bytes, 28) & 0x3fff }
    case 'VP8L': {
      const bits = little16(bytes, 21) | (little16(bytes, 23) << 16)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: little24(bytes, 24) + 1, height: little24(bytes, 27) + 1 }
    default:
      return undefined
  }
}

function decodeHead(base64: string): Uint8Array {
  const head = base64.slice(0, HEAD_CHARS)
  const bytes = new Uint8Array(Math.floor((head.length * 3) / 4))
  let bits = 0
  let held = 0
  let written = 0
  for (const char of head) {
    const value = ALPHABET.indexOf(char)
    if (value === -1) break
    held = (held << 6) | value
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes[written++] = (held >>> bits) & 0xff
    held &= (1 << bits) - 1
  }
  return bytes.slice(0, written)
}

function startsWith(bytes: Uint8Array, signature: readonly number[]): boolean {
  return signature.every((byte, index) => bytes[index] === byte)
}

function big16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}

function big32(bytes: Uint8Array, at: number): number {
  return big16(bytes, at) * 0x10000 + big16(bytes, at + 2)
}

function little16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)
}

function little24(bytes: Uint8Array, at: number): number {
  return little16(bytes, at) | ((bytes[at + 2] ?? 0) << 16)
}
