import { isBlock, type Block } from '../../../wire/message.ts'
import type { MessagesResponse } from '../../../wire/response.ts'
import type { StreamEvent } from '../../../wire/stream-event.ts'

// Turns a finished response into the events that would have delivered it.

const CHUNK_CHARS_LEAST = 24
/** Long texts are split into at most this many deltas. */
const CHUNKS_MAX = 40
/** Output tokens that `message_start` reports before anything is sampled. */
const FIRST_OUTPUT_TOKENS = 1

export interface StreamInput {
  readonly response: MessagesResponse
  /** Whether the last block was cut off; a tool use then ends in the middle of its input. */
  readonly isCut: boolean
}

export function* eventsOf({ response, isCut }: StreamInput): Generator<StreamEvent> {
  const { stop_reason, stop_sequence, usage, content, context_management, input_transformations } = response
  yield {
    type: 'message_start',
    message: {
      ...response,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: Math.min(usage.output_tokens, FIRST_OUTPUT_TOKENS) },
    },
  }
  for (const [index, block] of content.entries()) {
    yield { type: 'content_block_start', index, content_block: emptied(block) }
    if (index === 0) yield { type: 'ping' }
    yield* deltasOf(block, index, isCut && index === content.length - 1)
    yield { type: 'content_block_stop', index }
  }
  yield {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence },
    usage: {
      input_tokens: usage.input_tokens,
      cache_creation_input_tokens: usage.cache_creation_input_tokens ?? null,
      cache_read_input_tokens: usage.cache_read_input_tokens ?? null,
      output_tokens: usage.output_tokens,
      output_tokens_details: usage.output_tokens_details ?? null,
      ...(usage.iterations ? { iterations: usage.iterations } : {}),
    },
    ...(context_management === undefined ? {} : { context_management }),
    ...(input_transformations === undefined ? {} : { input_transformations }),
  }
  yield { type: 'message_stop' }
}

/** A block as its start event shows it: everything that deltas deliver is empty. */
function emptied(block: Block): Block {
  if (isBlock(block, 'text')) return { type: 'text', text: '' }
  if (isBlock(block, 'thinking')) return { type: 'thinking', thinking: '', signature: '' }
  if (isBlock(block, 'tool_use') || isBlock(block, 'server_tool_use')) return { ...block, input: {} }
  // The delta has no field for the signature, so it is here.
  if (isBlock(block, 'compaction')) return { ...block, content: null }
  return block
}

function* deltasOf(block: Block, index: number, isCut: boolean): Generator<StreamEvent> {
  if (isBlock(block, 'text')) {
    for (const text of chunksOf(block.text))
      yield { type: 'content_block_delta', index, delta: { type: 'text_delta', text } }
    for (const citation of block.citations ?? [])
      yield { type: 'content_block_delta', index, delta: { type: 'citations_delta', citation } }
  } else if (isBlock(block, 'thinking')) {
    for (const thinking of chunksOf(block.thinking))
      yield { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking } }
    yield {
      type: 'content_block_delta',
      index,
      delta: { type: 'signature_delta', signature: block.signature },
    }
  } else if (isBlock(block, 'tool_use') || isBlock(block, 'server_tool_use')) {
    const json = isCut ? '{"' : JSON.stringify(block.input)
    for (const partial_json of ['', ...chunksOf(json)])
      yield { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } }
  } else if (isBlock(block, 'compaction')) {
    const { content = null, encrypted_content = null } = block
    yield {
      type: 'content_block_delta',
      index,
      delta: { type: 'compaction_delta', content, encrypted_content },
    }
  }
}

function* chunksOf(text: string): Generator<string> {
  const size = Math.max(CHUNK_CHARS_LEAST, Math.ceil(text.length / CHUNKS_MAX))
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + size)
    // Keep a surrogate pair together: half of one is not a character.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end++
    yield text.slice(at, end)
    at = end
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/** An event as server-sent text. Clients skip events without the `event:` line. */
export function eventText(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
