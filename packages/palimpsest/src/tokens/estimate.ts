import { isJsonObject, type Json, type JsonText } from '../wire/json.ts'
import { SERVER_RESULT_TYPES, type Block } from '../wire/message.ts'
import { estimateText } from './estimate-text.ts'
import { findImageSize } from './image-size.ts'

export { estimateText } from './estimate-text.ts'

// What a block adds to the prompt, in tokens of no particular model: `calibrate` has the factor of each. The constants are what the API
// writes around a block; they were fitted together with the text weights (`docs/tokens.md`). Members are read one by one and only if they
// have the expected type: recorded and foreign blocks must never break a count.

const TEXT_FRAME_TOKENS = 4
const THINKING_FRAME_TOKENS = 5
const TOOL_USE_FRAME_TOKENS = 34
/** Each parameter of a call has a frame of its own, with its value unescaped if it is a string. */
const PARAMETER_FRAME_TOKENS = 12
const TOOL_RESULT_FRAME_TOKENS = 15

/** A signature is base64 over a header and the sealed thinking, which is longer than the visible text. */
const BYTES_PER_BASE64_CHAR = 0.75
const SEAL_HEADER_BYTES = 172
const TOKENS_PER_SEALED_BYTE = 0.265

/** For media of unknown size. */
export const MEDIA_TOKENS = 2_000
const PIXELS_PER_TOKEN = 750
/** Larger images are scaled down to about this size. */
const IMAGE_TOKENS_MAX = 1_600

const SERVER_RESULTS: ReadonlySet<string> = new Set(SERVER_RESULT_TYPES)

/** Raw tokens of one block. `json` is the block's own text, used only for types without a rule of their own. */
export function estimateBlock(block: Block, json: JsonText): number {
  return Math.ceil(estimateByKind(block, json))
}

function estimateByKind(block: Block, json: JsonText): number {
  switch (block.type) {
    case 'text':
      return TEXT_FRAME_TOKENS + estimateText(text(block, 'text'))
    case 'tool_result':
      return TOOL_RESULT_FRAME_TOKENS + estimateContent(member(block, 'content'))
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return estimateCall(text(block, 'name'), member(block, 'input'))
    case 'thinking':
      // The larger of the two: the text may be a summary or empty, and a foreign signature may seal nothing.
      return (
        THINKING_FRAME_TOKENS +
        Math.max(estimateText(text(block, 'thinking')), estimateSealed(text(block, 'signature')))
      )
    case 'redacted_thinking':
      return THINKING_FRAME_TOKENS + estimateSealed(text(block, 'data'))
    case 'image':
      return estimateImage(member(block, 'source'))
    case 'document':
      return estimateDocument(member(block, 'source'))
    case 'search_result': {
      const head = estimateText(text(block, 'title')) + estimateText(text(block, 'source'))
      return TEXT_FRAME_TOKENS + head + estimateContent(member(block, 'content'))
    }
    case 'compaction': {
      const summary = estimateText(text(block, 'content'))
      return TEXT_FRAME_TOKENS + Math.max(summary, estimateSealed(text(block, 'encrypted_content')))
    }
    default:
      if (SERVER_RESULTS.has(block.type))
        return TOOL_RESULT_FRAME_TOKENS + estimateJson(member(block, 'content'))
      return estimateText(json)
  }
}

/** A call is not sent as JSON, but as its name, then each parameter by name. */
function estimateCall(name: string, input: unknown): number {
  const call = TOOL_USE_FRAME_TOKENS + estimateText(name)
  if (!isJsonObject(input)) return call + estimateJson(input)
  return Object.entries(input).reduce(
    (sum, [key, value]) => sum + PARAMETER_FRAME_TOKENS + estimateText(key) + estimateJson(value),
    call,
  )
}

function estimateContent(content: unknown): number {
  if (!Array.isArray(content)) return estimateJson(content)
  return content.reduce<number>((sum, part: unknown) => sum + estimatePart(part), 0)
}

/** A block inside another, where text has no frame. */
function estimatePart(part: unknown): number {
  if (!isJsonObject(part) || typeof part['type'] !== 'string') return estimateJson(part)
  if (part['type'] === 'text') return estimateText(text(part, 'text'))
  return estimateByKind({ ...part, type: part['type'] }, JSON.stringify(part))
}

/** A string as its text; anything else as JSON, with sealed contents estimated as such. */
function estimateJson(value: unknown): number {
  if (value === undefined) return 0
  if (typeof value === 'string') return estimateText(value)
  const seals: string[] = []
  const json: unknown = JSON.stringify(value, (key, inner: unknown) => {
    if (key !== 'encrypted_content' || typeof inner !== 'string') return inner
    seals.push(inner)
    return undefined
  })
  return seals.reduce(
    (sum, seal) => sum + estimateSealed(seal),
    estimateText(typeof json === 'string' ? json : ''),
  )
}

function estimateSealed(base64: string): number {
  return Math.max(base64.length * BYTES_PER_BASE64_CHAR - SEAL_HEADER_BYTES, 0) * TOKENS_PER_SEALED_BYTE
}

function estimateImage(source: unknown): number {
  const size = isJsonObject(source) ? findImageSize(text(source, 'data')) : undefined
  if (size === undefined) return MEDIA_TOKENS
  return Math.min((size.width * size.height) / PIXELS_PER_TOKEN, IMAGE_TOKENS_MAX)
}

function estimateDocument(source: unknown): number {
  if (!isJsonObject(source)) return MEDIA_TOKENS
  if (source['type'] === 'text') return TEXT_FRAME_TOKENS + estimateText(text(source, 'data'))
  if (source['type'] === 'content') return TEXT_FRAME_TOKENS + estimateContent(source['content'])
  return MEDIA_TOKENS
}

function member(block: Block | Readonly<Record<string, Json | undefined>>, name: string): unknown {
  return Reflect.get(block, name)
}

function text(block: Block | Readonly<Record<string, Json | undefined>>, name: string): string {
  const value = member(block, name)
  return typeof value === 'string' ? value : ''
}
