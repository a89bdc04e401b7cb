import type { Block } from 'palimpsest/wire'

import { Refusal } from '../refusal.ts'

/** The API takes 5 MB of base64 per image. */
const IMAGE_BYTES_MAX = 3_750_000

interface ImageKind {
  readonly type: string
  readonly start: RegExp
  /** The end of the file is there. The API refuses half an image, and then every later request of the conversation too. */
  readonly isWhole: (bytes: Buffer) => boolean
}

const PNG_HEADER_BYTES = 33
const RIFF_HEADER_BYTES = 8

const KINDS: readonly ImageKind[] = [
  {
    type: 'image/png',
    start: /^\x89PNG\r\n/,
    isWhole: (bytes) => bytes.indexOf('IEND', PNG_HEADER_BYTES, 'latin1') !== -1,
  },
  {
    type: 'image/jpeg',
    start: /^\xff\xd8\xff/,
    isWhole: (bytes) => bytes.lastIndexOf('\xff\xd9', undefined, 'latin1') !== -1,
  },
  { type: 'image/gif', start: /^GIF8[79]a/, isWhole: (bytes) => bytes.lastIndexOf(';') !== -1 },
  {
    type: 'image/webp',
    start: /^RIFF[^]{4}WEBP/,
    isWhole: (bytes) => bytes.readUInt32LE(4) + RIFF_HEADER_BYTES <= bytes.length,
  },
]
const SIGNATURE_BYTES = 12

/** Decided by the first bytes, not by the name. */
export function isImage(start: Buffer): boolean {
  return kindOf(start) !== undefined
}

/** An image as a block. Undefined for everything else. */
export function toImageBlock(path: string, bytes: Buffer): Block | undefined {
  const kind = kindOf(bytes)
  if (kind === undefined) return undefined
  if (bytes.length > IMAGE_BYTES_MAX) {
    throw new Refusal(
      `${path} is an image of ${bytes.length} bytes; at most ${IMAGE_BYTES_MAX} can be shown. Make a smaller copy first.`,
    )
  }
  if (!kind.isWhole(bytes))
    throw new Refusal(`${path} is a damaged image: its end is missing. It is not shown.`)
  const source = { type: 'base64', media_type: kind.type, data: bytes.toString('base64') }
  return { type: 'image', source }
}

function kindOf(bytes: Buffer): ImageKind | undefined {
  const first = bytes.toString('latin1', 0, SIGNATURE_BYTES)
  return KINDS.find(({ start }) => start.test(first))
}
