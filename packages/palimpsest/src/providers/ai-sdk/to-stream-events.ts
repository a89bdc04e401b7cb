import { ProviderError } from '../../errors.ts'
import { estimateText } from '../../tokens/estimate-text.ts'
import { hashText } from '../../wire/hash.ts'
import type { JsonText } from '../../wire/json.ts'
import { isBlock, toBlocks, type Block } from '../../wire/message.ts'
import { freeToolId } from '../../wire/tool-id.ts'
import type { MessagesRequest } from '../../wire/request.ts'
import type { StopReason } from '../../wire/response.ts'
import type { DeltaUsage, StreamEvent } from '../../wire/stream-event.ts'
import type { ChatPart } from './chat-model.ts'

// The content of a chat stream in the form in which the Messages API would have streamed it: one block after the other. A call comes when
// it is complete, since the pieces of several calls may be mixed.

export interface RequestFacts {
  readonly request: MessagesRequest
  readonly body: JsonText
}

type Finish = Extract<ChatPart, { type: 'finish' }>

export async function* toStreamEvents(
  parts: AsyncIterable<ChatPart>,
  asked: RequestFacts,
): AsyncGenerator<StreamEvent> {
  const writer = createWriter(asked)
  for await (const part of parts) {
    switch (part.type) {
      case 'response-metadata':
        yield* writer.begin(part.id)
        break
      case 'text-delta':
        yield* writer.say('text', part.delta)
        break
      case 'reasoning-delta':
        yield* writer.say('thinking', part.delta)
        break
      case 'tool-call':
        yield* writer.call(part.toolCallId, part.toolName, part.input)
        break
      case 'error':
        throw part.error
      case 'finish':
        yield* writer.end(part)
        break
      default:
        // Beginnings, ends and pieces of calls: the parts above have their content.
        break
    }
  }
}

interface Writer {
  readonly begin: (id?: string) => Generator<StreamEvent>
  readonly say: (kind: 'text' | 'thinking', delta: string) => Generator<StreamEvent>
  readonly call: (id: string, name: string, input: string) => Generator<StreamEvent>
  readonly end: (finish: Finish) => Generator<StreamEvent>
}

function createWriter({ request, body }: RequestFacts): Writer {
  const taken = callIds(request)
  let hasBegun = false
  let calls = 0
  let index = -1
  let open: 'text' | 'thinking' | undefined
  let written = ''
  function* begin(id?: string): Generator<StreamEvent> {
    if (hasBegun) return
    hasBegun = true
    yield startEvent(request, messageId(id, body))
  }
  function* close(): Generator<StreamEvent> {
    if (open !== undefined) yield { type: 'content_block_stop', index }
    open = undefined
  }
  function* start(block: Block): Generator<StreamEvent> {
    yield* begin()
    yield* close()
    index += 1
    yield { type: 'content_block_start', index, content_block: block }
  }
  return {
    begin,
    *say(kind, delta) {
      if (open !== kind) yield* start(EMPTY[kind])
      open = kind
      written += delta
      yield { type: 'content_block_delta', index, delta: deltaOf(kind, delta) }
    },
    *call(id, name, input) {
      calls += 1
      written += input
      const own = freeToolId(id, (other) => taken.has(other))
      taken.add(own)
      yield* start({ type: 'tool_use', id: own, name, input: {} })
      const partial = input.trim() === '' ? '{}' : input
      yield { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: partial } }
      yield { type: 'content_block_stop', index }
    },
    *end(finish) {
      yield* begin()
      yield* close()
      const delta = { stop_reason: stopReason(finish, calls), stop_sequence: null }
      yield { type: 'message_delta', delta, usage: usageOf(finish, { body, written }) }
      yield { type: 'message_stop' }
    },
  }
}

const EMPTY: { readonly [kind in 'text' | 'thinking']: Block } = {
  text: { type: 'text', text: '' },
  // Nothing seals it: it is shown and kept, and never sent to a model that requires a seal.
  thinking: { type: 'thinking', thinking: '', signature: '' },
}

function deltaOf(kind: 'text' | 'thinking', text: string) {
  return kind === 'text'
    ? ({ type: 'text_delta', text } as const)
    : ({ type: 'thinking_delta', thinking: text } as const)
}

function startEvent({ model }: MessagesRequest, id: string): StreamEvent {
  return {
    type: 'message_start',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    },
  }
}

/** Some servers pick ids from a few hundred, or give all answers the same one; lines with the same id would count as one message. */
function messageId(id: string | undefined, body: JsonText): string {
  return `${id ?? 'chat'}-${hashText(body)}`
}

/** Some servers say `stop` although the answer has calls. */
function stopReason({ finishReason }: Finish, calls: number): StopReason {
  switch (finishReason.unified) {
    case 'length':
      return 'max_tokens'
    case 'content-filter':
      return 'refusal'
    case 'error':
    case 'interrupted':
      throw new ProviderError({ kind: 'transport' }, 'The server broke off the answer.')
    case 'stop':
    case 'tool-calls':
    case 'other':
      return calls > 0 ? 'tool_use' : 'end_turn'
    default:
      return finishReason.unified satisfies never
  }
}

/** The server's counts. If it counts nothing, an estimate is used: thresholds must not see an empty prompt. */
function usageOf(
  { usage: { inputTokens, outputTokens } }: Finish,
  { body, written }: { readonly body: JsonText; readonly written: string },
): DeltaUsage {
  const prompt = inputTokens.total || estimateText(body)
  const read = Math.min(inputTokens.cacheRead ?? 0, prompt)
  return {
    input_tokens: prompt - read,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: 0,
    output_tokens: outputTokens.total || estimateText(written),
  }
}

function callIds({ messages }: MessagesRequest): Set<string> {
  const blocks = messages.flatMap(({ content }) => toBlocks(content))
  return new Set(blocks.flatMap((block) => (isBlock(block, 'tool_use') ? [block.id] : [])))
}
