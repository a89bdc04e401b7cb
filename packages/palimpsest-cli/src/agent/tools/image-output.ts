import type { ToolOutput } from 'palimpsest/loop'

import { Refusal } from '../refusal.ts'

/** The API takes 5 MB of base64 per image. */
const IMAGE_BYTES_MAX = 3_750_000

const SIGNATURES: readonly { readonly type: string; readonly start: RegExp }[] = [
  { type: 'image/png', start: /^\x89PNG\r\n/ },
  { type: 'image/jpeg', start: /^\xff\xd8\xff/ },
  { type: 'image/gif', start: /^GIF8[79]a/ },
  { type: 'image/webp', start: /^RIFF[^]{4}WEBP/ },
]
const SIGNATURE_BYTES = 12

/** An image as a block, told by its first bytes and not by its name. Undefined for everything else. */
export function imageOutput(path: string, bytes: Buffer): ToolOutput | undefined {
  const first = bytes.toString('latin1', 0, SIGNATURE_BYTES)
  const type = SIGNATURES.find(({ start }) => start.test(first))?.type
  if (type === undefined) return undefined
  if (bytes.length > IMAGE_BYTES_MAX) {
    throw new Refusal(
      `${path} is an image of ${bytes.length} bytes; at most ${IMAGE_BYTES_MAX} can be shown. Make a smaller copy first.`,
    )
  }
  const source = { type: 'base64', media_type: type, data: bytes.toString('base64') }
  return { content: [{ type: 'image', source }] }
}
