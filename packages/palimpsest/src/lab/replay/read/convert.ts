import { isJsonList, isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../../wire/json.ts'
import type { Block, ImageBlock, WireMessage } from '../../../wire/message.ts'
import type { MessageEntry } from '../../../transcript/entry.ts'
import { textField } from './field.ts'

// Shapes that several foreign formats share, as Messages API blocks.

/** A converted message has no recorded bytes: its text is the one printed here. */
export function convertedMessage(
  role: 'user' | 'assistant',
  content: string | readonly Block[],
): Pick<MessageEntry, 'message' | 'json'> {
  const message: WireMessage = { role, content }
  return { message, json: JSON.stringify(message) }
}

/** Text as one block; no block for empty text, which the API refuses. */
export function textBlocks(text: string | undefined): Block[] {
  return text ? [{ type: 'text', text }] : []
}

/** An image as a data URL or an address. */
export function imageFromUrl(url: string): ImageBlock {
  const comma = url.indexOf(',')
  const head = /^data:([^;,]+);base64$/.exec(url.slice(0, Math.max(comma, 0)))
  const source = head
    ? { type: 'base64', media_type: head[1], data: url.slice(comma + 1) }
    : { type: 'url', url }
  return { type: 'image', source }
}

/** An image as base64 data and its media type. */
export function imageFromData(data: string, mediaType: string | undefined): ImageBlock {
  return { type: 'image', source: { type: 'base64', media_type: mediaType ?? 'image/png', data } }
}

/** Tool ids and names of the Messages API are letters, digits, `_` and `-`. Both ends of a pair go through here, so they still match. */
export function wireName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
}

/** Tool input must be an object; anything else becomes a member called `name`. */
export function toolInput(input: Json | undefined, name: string): JsonObject {
  if (isJsonObject(input)) return input
  return { [name]: input ?? '' }
}

export function parsedInput(text: string | undefined, name: string): JsonObject {
  if (!text) return {}
  return parseJsonObject(text) ?? { [name]: text }
}

/** The text of a string or of a list of `{text}` items; otherwise ''. */
export function joinedText(value: Json | undefined): string {
  if (typeof value === 'string') return value
  if (!isJsonList(value)) return ''
  return value.map((item) => (isJsonObject(item) ? (textField(item, 'text') ?? '') : '')).join('\n')
}
