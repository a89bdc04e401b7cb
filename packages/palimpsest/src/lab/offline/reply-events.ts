import { CHARS_PER_TOKEN } from '../../tokens/chars-per-token.ts'
import { hashText } from '../../wire/hash.ts'
import type { JsonObject, JsonText } from '../../wire/json.ts'
import type { StreamEvent } from '../../wire/stream-event.ts'

// Streams a finished answer as the wire does. Ids are hashes of the request, so the same request gives the same bytes.

export type ReplyBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly name: string; readonly input: JsonObject }

export interface RequestFacts {
  readonly body: JsonText
  readonly model: string
}

/** Size of a delta, so that a screen shows the answer as it arrives. */
const DELTA_CHARS = 400
const ID_CHARS = 24

export function* replyEvents(
  { body, model }: RequestFacts,
  blocks: readonly ReplyBlock[],
): Generator<StreamEvent> {
  const id = hashText(body)
  const usage = { input_tokens: countTokens(body), output_tokens: 1, ...NO_CACHE }
  yield {
    type: 'message_start',
    message: {
      id: `msg_${id.slice(0, ID_CHARS)}`,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    },
  }
  let written = 0
  for (const [index, block] of blocks.entries()) {
    written += countTokens(block.type === 'text' ? block.text : JSON.stringify(block.input))
    yield* blockEvents(block, index, id)
  }
  yield {
    type: 'message_delta',
    delta: { stop_reason: stopReason(blocks), stop_sequence: null },
    usage: { output_tokens: written },
  }
  yield { type: 'message_stop' }
}

const NO_CACHE = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

function* blockEvents(block: ReplyBlock, index: number, id: string): Generator<StreamEvent> {
  if (block.type === 'text') {
    yield { type: 'content_block_start', index, content_block: { type: 'text', text: '' } }
    for (const text of pieces(block.text))
      yield { type: 'content_block_delta', index, delta: { type: 'text_delta', text } }
  } else {
    const use = { type: 'tool_use' as const, id: `toolu_${toolId(id, index)}`, name: block.name, input: {} }
    yield { type: 'content_block_start', index, content_block: use }
    const partial_json = JSON.stringify(block.input)
    yield { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } }
  }
  yield { type: 'content_block_stop', index }
}

function stopReason(blocks: readonly ReplyBlock[]): 'tool_use' | 'end_turn' {
  return blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
}

function toolId(id: string, index: number): string {
  return hashText(`${id} ${index}`).slice(0, ID_CHARS)
}

/** A rough count: this model has no vocabulary. */
function countTokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / CHARS_PER_TOKEN))
}

/** Never cuts inside a character. */
function pieces(text: string): readonly string[] {
  return text.match(new RegExp(`[^]{1,${DELTA_CHARS}}`, 'gu')) ?? []
}
