import { isBlock, type DocumentBlock, type ImageBlock } from '../../../wire/message.ts'

/** An image costs its area: one token per this many pixels. */
const PIXELS_PER_TOKEN = 750
/** Larger images are scaled down to about this. */
const IMAGE_TOKENS_MAX = 4_784
/** An image or document given by URL or id, whose size is not in the request. */
const REMOTE_TOKENS = 1_500
const UNREADABLE_IMAGE_TOKENS = 1_600
/** Approximate bytes and tokens of a document page. */
const PAGE_BYTES = 40_000
const PAGE_TOKENS = 2_200

/** The header of every supported image format, with a JPEG's leading segments, is within this many base64 characters. */
const HEADER_CHARS = 65_536

export function mediaTokens(block: ImageBlock | DocumentBlock): number {
  const { source } = block
  if (source.type !== 'base64' || source.data === undefined) return REMOTE_TOKENS
  if (isBlock(block, 'document')) {
    const bytes = base64Bytes(source.data)
    return Math.max(1, Math.ceil(bytes / PAGE_BYTES)) * PAGE_TOKENS
  }
  const size = imageSize(source.data)
  if (!size) return UNREADABLE_IMAGE_TOKENS
  return Math.min(IMAGE_TOKENS_MAX, Math.max(1, Math.ceil((size.width * size.height) / PIXELS_PER_TOKEN)))
}

export function base64Bytes(data: string): number {
  return Math.floor((data.length * 3) / 4)
}

export interface ImageSize {
  readonly width: number
  readonly height: number
}

export function imageSize(base64: string): ImageSize | undefined {
  const bytes = headerBytes(base64)
  if (!bytes) return undefined
  const view = new DataView(bytes.buffer)
  return pngSize(view) ?? gifSize(view) ?? webpSize(view) ?? jpegSize(view)
}

function headerBytes(base64: string): Uint8Array<ArrayBuffer> | undefined {
  const head = base64.slice(0, HEADER_CHARS)
  try {
    return Uint8Array.from(atob(head.slice(0, head.length - (head.length % 4))), (char) => char.charCodeAt(0))
  } catch {
    // Not base64: the caller counts it as an unreadable image.
    return undefined
  }
}

function pngSize(view: DataView): ImageSize | undefined {
  if (view.byteLength < 24 || view.getUint32(0) !== 0x89504e47) return undefined
  return { width: view.getUint32(16), height: view.getUint32(20) }
}

function gifSize(view: DataView): ImageSize | undefined {
  if (view.byteLength < 10 || view.getUint32(0) !== 0x47494638) return undefined
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) }
}

/** Reads the extended format; the two simple ones count as unreadable. */
function webpSize(view: DataView): ImageSize | undefined {
  if (view.byteLength < 30 || view.getUint32(0) !== 0x52494646 || view.getUint32(12) !== 0x56503858)
    return undefined
  return { width: 1 + uint24(view, 24), height: 1 + uint24(view, 27) }
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
}

/** Walks the segments up to the frame header. */
function jpegSize(view: DataView): ImageSize | undefined {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return undefined
  let at = 2
  while (at + 9 <= view.byteLength && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    at += 2 + view.getUint16(at + 2)
  }
  return undefined
}
