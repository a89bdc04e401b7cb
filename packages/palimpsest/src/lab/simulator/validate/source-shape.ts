import { isJsonObject, type JsonObject } from '../../../wire/json.ts'
import { base64Bytes } from '../context/count-media.ts'
import { refuse, type Refusal } from '../refusal.ts'
import { checkOneOf, checkShape, type Shape } from './field.ts'
import type { Judged } from './judged.ts'

// Where the bytes of an image or a document are: in the request, at a URL, or in an uploaded file.

const IMAGE_BYTES_MAX = 5_242_880
const IMAGE_TYPES: readonly unknown[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']

const INLINE: Shape = { media_type: 'string', data: 'string' }
const IMAGE_SOURCES: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  ['base64', INLINE],
  ['url', { url: 'string' }],
  ['file', { file_id: 'string' }],
])
const DOCUMENT_SOURCES: ReadonlyMap<unknown, Shape> = new Map<unknown, Shape>([
  ...IMAGE_SOURCES,
  ['text', INLINE],
  // A text, or blocks: those are checked as blocks.
  ['content', { content: 'any' }],
])

export function checkImageSource(block: JsonObject, path: string, judged: Judged): Refusal | undefined {
  const source = block['source']
  if (!isJsonObject(source)) return refuse('request.object', { path: `${path}.source` })
  // Checked first, because it has its own wording.
  if (source['type'] === 'base64' && !IMAGE_TYPES.includes(source['media_type']))
    return refuse('messages.image-media-type', { path })
  const refusal = checkSource(source, path, IMAGE_SOURCES, judged)
  const { type, data } = source
  if (refusal || type !== 'base64' || typeof data !== 'string') return refusal
  const bytes = base64Bytes(data)
  return bytes > IMAGE_BYTES_MAX ? refuse('messages.image-too-large', { path, bytes }) : undefined
}

/** The caller checks the blocks of a `content` source. */
export function checkDocumentSource(block: JsonObject, path: string, judged: Judged): Refusal | undefined {
  const source = block['source']
  if (!isJsonObject(source)) return refuse('request.object', { path: `${path}.source` })
  return (
    checkSource(source, path, DOCUMENT_SOURCES, judged) ??
    checkMediaType(source, 'base64', 'application/pdf', path) ??
    checkMediaType(source, 'text', 'text/plain', path)
  )
}

function checkMediaType(
  { type, media_type: found }: JsonObject,
  of: string,
  wanted: string,
  path: string,
): Refusal | undefined {
  return type === of ? checkOneOf(found, [wanted], `${path}.source.${of}.media_type`) : undefined
}

function checkSource(
  source: JsonObject,
  path: string,
  known: ReadonlyMap<unknown, Shape>,
  { switches }: Judged,
): Refusal | undefined {
  const { type } = source
  if (typeof type !== 'string') return checkShape(source, { type: 'string' }, `${path}.source`)
  const shape = known.get(type)
  if (shape) return checkShape(source, shape, `${path}.source.${type}`)
  return switches.unknownBlocks === 'accept'
    ? undefined
    : refuse('messages.tag-unknown', { path: `${path}.source`, tag: type })
}
