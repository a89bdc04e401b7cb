import { ProviderError, type ProviderFailure } from '../errors.ts'
import type { ModelEvent } from '../ports.ts'
import { isJsonObject, withMember, withoutMember, type JsonObject, type JsonText } from '../wire/json.ts'
import { isBlock, type Block } from '../wire/message.ts'
import type { ErrorBody, MessagesResponse } from '../wire/response.ts'
import type { Delta, StreamEvent } from '../wire/stream-event.ts'
import type { LoopEvent } from './events.ts'

// From stream to one whole answer. An answer is whole when its stream said so; anything less is a failure and leaves nothing behind.

export interface CollectedResponse {
  readonly response: MessagesResponse
  /** The whole message object; a call's input is the very text the model wrote. */
  readonly json: JsonText
  readonly requestId?: string
  /** Calls whose input was not valid JSON: they are answered with that, not run. */
  readonly unreadable: ReadonlySet<string>
  /** The answer ended inside a call, which is left out. */
  readonly cutCall: boolean
}

export interface AnsweredRequest extends CollectedResponse {
  /** When the attempt that was answered began: lifetimes in the cache run from there. */
  readonly startedAt: number
}

export interface OpenBlock {
  block: Block
  partialJson: string
  stopped: boolean
}

/** What has come of an answer so far. */
export interface Gathered {
  readonly blocks: OpenBlock[]
  started?: MessagesResponse
  requestId?: string
}

export function nothingGathered(): Gathered {
  return { blocks: [] }
}

/** Input of a call whose JSON could not be read, so that the model sees what it sent. */
const UNREADABLE_INPUT = 'unreadable_input'

/** Whoever gives `gathered` has what came when it fails. An answer is judged while its stream still waits: who reads that can tell. */
export async function* collectResponse(
  events: AsyncIterable<ModelEvent>,
  gathered: Gathered = nothingGathered(),
): AsyncGenerator<LoopEvent, CollectedResponse> {
  let collected: CollectedResponse | undefined
  try {
    for await (const event of events) {
      const { started, blocks } = gathered
      if (event.type === 'request_id') gathered.requestId = event.requestId
      else if (event.type === 'error') throw streamError(event, gathered.requestId)
      else if (event.type === 'message_start') gathered.started = event.message
      else if (event.type === 'message_delta' && started) gathered.started = withDelta(started, event)
      else if (event.type === 'message_stop')
        collected = started && finish(started, blocks, gathered.requestId)
      else yield* takeBlockEvent(blocks, event)
    }
  } catch (error) {
    // What happens behind the end of the answer takes nothing from it.
    if (!collected) throw error
  }
  if (collected) return collected
  if (gathered.started)
    throw new ProviderError({ kind: 'transport' }, 'The answer was cut off before its end.')
  throw new ProviderError({ kind: 'bad-output' }, 'The answer held no message. Check the base URL.')
}

function* takeBlockEvent(blocks: OpenBlock[], event: StreamEvent): Generator<LoopEvent> {
  if (event.type === 'content_block_start') {
    blocks[event.index] = { block: event.content_block, partialJson: '', stopped: false }
    return
  }
  if (event.type !== 'content_block_delta' && event.type !== 'content_block_stop') return
  const open = blocks[event.index]
  if (!open)
    throw new ProviderError(
      { kind: 'bad-output' },
      `The answer went on with block ${event.index}, which it had not begun.`,
    )
  if (event.type === 'content_block_stop') open.stopped = true
  else yield* takeDelta(open, event.delta)
}

function* takeDelta(open: OpenBlock, delta: Delta): Generator<LoopEvent> {
  const { block } = open
  if (delta.type === 'text_delta' && isBlock(block, 'text')) {
    open.block = { ...block, text: block.text + delta.text }
    yield { type: 'text-delta', text: delta.text }
  } else if (delta.type === 'thinking_delta' && isBlock(block, 'thinking')) {
    open.block = { ...block, thinking: block.thinking + delta.thinking }
    yield { type: 'thinking-delta', text: delta.thinking }
  } else if (delta.type === 'signature_delta' && isBlock(block, 'thinking')) {
    open.block = { ...block, signature: delta.signature }
  } else if (delta.type === 'input_json_delta') {
    open.partialJson += delta.partial_json
    const toolUseId = isBlock(block, 'tool_use') ? block.id : ''
    yield { type: 'tool-input-delta', toolUseId, partialJson: delta.partial_json }
  } else if (delta.type === 'citations_delta' && isBlock(block, 'text')) {
    open.block = { ...block, citations: [...(block.citations ?? []), delta.citation] }
  } else if (delta.type === 'compaction_delta' && isBlock(block, 'compaction')) {
    const encrypted =
      delta.encrypted_content === undefined ? {} : { encrypted_content: delta.encrypted_content }
    open.block = { ...block, content: delta.content, ...encrypted }
  }
}

function finish(
  started: MessagesResponse,
  blocks: OpenBlock[],
  requestId: string | undefined,
): CollectedResponse {
  const unreadable = new Set<string>()
  const content: Block[] = []
  const texts: JsonText[] = []
  let cutCall = false
  const present = blocks.filter((block) => block !== undefined)
  for (const open of present) {
    const read = readBlock(open)
    const isLast = open === present.at(-1)
    if (endsEarly(started) && (read.broken || (isLast && hasNoInput(open)))) {
      cutCall = true
      continue
    }
    if (read.broken && isBlock(read.block, 'tool_use')) unreadable.add(read.block.id)
    content.push(read.block)
    texts.push(read.json)
  }
  requireOwnIds(content)
  const response = { ...started, content }
  const shell = JSON.stringify({ ...started, content: [] })
  const json = withMember(withoutMember(shell, 'content'), 'content', `[${texts.join(',')}]`)
  return { response, json, unreadable, cutCall, ...(requestId === undefined ? {} : { requestId }) }
}

/** Two calls of one id cannot be told apart, nor can their results: with them in it the conversation could not go on. */
function requireOwnIds(content: readonly Block[]): void {
  const ids = content.flatMap((block) => (isBlock(block, 'tool_use') ? [block.id] : []))
  if (new Set(ids).size < ids.length)
    throw new ProviderError({ kind: 'bad-output' }, 'The answer holds two calls with the same id.')
}

/** Whoever stopped the answer may have stopped it inside a call. */
function endsEarly({ stop_reason: reason }: MessagesResponse): boolean {
  return reason === 'max_tokens' || reason === 'model_context_window_exceeded' || reason === 'refusal'
}

/** A call of which nothing came but its name: an input of its own would be `{}` in so many letters. */
function hasNoInput({ block, partialJson }: OpenBlock): boolean {
  return isBlock(block, 'tool_use') && partialJson === ''
}

export function readBlock({ block, partialJson }: OpenBlock): {
  block: Block
  json: JsonText
  broken: boolean
} {
  if (partialJson === '' || !('input' in block)) return { block, json: JSON.stringify(block), broken: false }
  const shell = withoutMember(JSON.stringify(block), 'input')
  const input = parseInput(partialJson)
  if (input !== undefined)
    return { block: { ...block, input }, json: withMember(shell, 'input', partialJson), broken: false }
  const kept = { [UNREADABLE_INPUT]: partialJson }
  return {
    block: { ...block, input: kept },
    json: withMember(shell, 'input', JSON.stringify(kept)),
    broken: true,
  }
}

function parseInput(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function withDelta(
  message: MessagesResponse,
  event: Extract<StreamEvent, { type: 'message_delta' }>,
): MessagesResponse {
  const known = Object.entries(event.usage).filter(([, value]) => value !== null && value !== undefined)
  return {
    ...message,
    ...event.delta,
    usage: { ...message.usage, ...Object.fromEntries(known) },
    ...(event.context_management ? { context_management: event.context_management } : {}),
    ...(event.input_transformations ? { input_transformations: event.input_transformations } : {}),
  }
}

function streamError(event: ErrorBody, requestId: string | undefined): ProviderError {
  const options = requestId === undefined ? {} : { requestId }
  return new ProviderError(failureOf(event.error.type), event.error.message, options)
}

/** An error inside a stream has no status: its type alone says who must act. */
function failureOf(type: string): ProviderFailure {
  switch (type) {
    case 'overloaded_error':
      return { kind: 'overloaded' }
    case 'rate_limit_error':
      return { kind: 'rate-limited' }
    case 'authentication_error':
    case 'permission_error':
      return { kind: 'unauthorized' }
    case 'invalid_request_error':
      return { kind: 'invalid-request', status: 400 }
    default:
      return { kind: 'transport' }
  }
}
