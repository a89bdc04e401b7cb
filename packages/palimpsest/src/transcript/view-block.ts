import { estimateBlock } from '../tokens/estimate.ts'
import { findMember, isJsonObject, splitArray, withoutMember, type JsonText } from '../wire/json.ts'
import { isBlock, toBlocks, type Block } from '../wire/message.ts'
import type { BlockRef, MessageEntry } from './entry.ts'

/** A block as it would be sent. */
export interface ViewBlock {
  readonly at: BlockRef
  readonly block: Block
  /** The block's own bytes, without a breakpoint. */
  readonly json: JsonText
  /** Estimated tokens, before calibration. */
  readonly tokens: number
  /** False once a stand-in replaced it. */
  readonly original: boolean
}

/** The blocks of a message entry, cut from its text so that their bytes stay unchanged. String content is one text block. */
export function toViewBlocks(entry: MessageEntry): ViewBlock[] {
  const content = findMember(entry.json, 'content')
  if (content === undefined) return []
  const parsed = toBlocks(entry.message.content)
  const texts = content.startsWith('[') ? splitArray(content) : [`{"type":"text","text":${content}}`]
  return parsed.map((block, index) =>
    makeBlock({ entry: entry.id, index }, block, texts[index] ?? JSON.stringify(block), true),
  )
}

export function toViewBlock(at: BlockRef, text: JsonText, original: boolean): ViewBlock {
  const parsed: unknown = JSON.parse(text)
  const type = isJsonObject(parsed) && typeof parsed['type'] === 'string' ? parsed['type'] : 'unknown'
  return makeBlock(at, isJsonObject(parsed) ? { ...parsed, type } : { type }, text, original)
}

function makeBlock(at: BlockRef, block: Block, text: JsonText, original: boolean): ViewBlock {
  const json = withoutMember(text, 'cache_control')
  return { at, block, json, tokens: estimateBlock(block, json), original }
}

/** The API refuses text blocks without a visible character, though models produce them. */
export function isBlank(block: Block): boolean {
  return isBlock(block, 'text') && block.text.trim() === ''
}
