import { ownIds, type OwnIds } from './own-ids.ts'
import { ProviderError, type ProviderFailure } from '../../errors.ts'
import type { ModelEvent } from '../../ports.ts'
import { overflowFailure, parseOverflow } from '../../tokens/overflow.ts'
import { isTooDeep } from '../../wire/json-depth.ts'
import {
  parseJsonObject,
  withMember,
  withoutMember,
  type JsonObject,
  type JsonText,
} from '../../wire/json.ts'
import { isBlock, isThinking, type Block } from '../../wire/message.ts'
import { parseBlock } from '../../wire/parse.ts'
import type { ErrorBody, MessagesResponse } from '../../wire/response.ts'
import { problemText } from '../../wire/shape.ts'
import type { Delta, StreamEvent } from '../../wire/stream-event.ts'
import { toWellFormedJson } from '../../wire/well-formed.ts'
import { beginBlock, type BegunBlock } from './begin-block.ts'
import type { LoopEvent } from '../events.ts'

// From a stream to one complete answer. An answer is complete when its stream says so; anything less is a failure and leaves nothing
// behind. Everything in it can be sent back: nothing is larger, deeper or otherwise formed than the API accepts.

/**
 * Longest answer, in characters. The longest that a model writes, 128,000 tokens, has about half a million; results of the provider's own
 * tools may add some. A larger answer fits no window, and would be in every later request.
 */
export const ANSWER_CHARS_MAX = 2_000_000
/** Most blocks of one answer. An answer of 32,000 tokens has room for a tenth of that. */
const BLOCKS_MAX = 10_000

export interface CollectedResponse {
  readonly response: MessagesResponse
  /** The complete message object; the input of a call is exactly the text that the model wrote. */
  readonly json: JsonText
  readonly requestId?: string | undefined
  /** Calls whose input was not valid JSON. They get an error as their result and do not run. */
  readonly unreadable: ReadonlySet<string>
  /** The answer ended inside a call, which is omitted. */
  readonly cutCall: boolean
  /** Something before its last thinking differs from what came, so the provider's seal on that thinking no longer fits. */
  readonly breaksSeal: boolean
}

export interface AnsweredRequest extends CollectedResponse {
  /** When the answered attempt began, in milliseconds since 1970: cache lifetimes count from here. */
  readonly startedAt: number
}

export interface OpenBlock extends BegunBlock {
  block: Block
  partialJson: string
  readonly citations: JsonObject[]
  stopped: boolean
}

/** The part of an answer that has arrived. */
export interface Gathered {
  /** In the order in which they began. An index only tells blocks apart. */
  readonly blocks: OpenBlock[]
  readonly open: Map<number, OpenBlock>
  readonly ids: OwnIds
  started?: MessagesResponse
  requestId?: string
  chars: number
  /** Part of the answer was already yielded as events. */
  isShown: boolean
}

/** Without `ids`: for an answer that joins no conversation. */
export function nothingGathered(ids: OwnIds = ownIds({ log: [], from: null }, () => 'answer')): Gathered {
  return { blocks: [], open: new Map(), ids, chars: 0, isShown: false }
}

/** Holds the input of a call if its JSON could not be read, so that the model sees what it sent. */
const UNREADABLE_INPUT = 'unreadable_input'

/**
 * A caller that passes `gathered` has what arrived, even if this fails. An answer is judged before its stream ends, so that a wrapper
 * around the stream can tell whether it was accepted. An abort takes effect at the next event, even if the rest of the answer has already
 * arrived; a complete answer stays complete.
 */
export async function* collectResponse(
  events: AsyncIterable<ModelEvent>,
  gathered: Gathered = nothingGathered(),
  signal?: AbortSignal,
): AsyncGenerator<LoopEvent, CollectedResponse> {
  let collected: CollectedResponse | undefined
  try {
    for await (const event of events) {
      signal?.throwIfAborted()
      if (event.type === 'request_id') gathered.requestId = event.requestId
      else if (event.type === 'error') throw streamError(event, gathered.requestId)
      else if (event.type === 'message_start') gathered.started = begin(gathered, event.message)
      else if (event.type === 'message_stop')
        collected = gathered.started && finish(gathered, gathered.started)
      else if (event.type !== 'ping') yield* takeEvent(gathered, event)
    }
  } catch (error) {
    // An error after the end of the answer does not spoil it.
    if (!collected) throw error
  }
  if (collected) return collected
  if (gathered.started)
    throw new ProviderError({ kind: 'transport' }, 'The answer was cut off before its end.')
  throw bad('The answer held no message. Check the base URL.')
}

function begin({ started, ids }: Gathered, message: MessagesResponse): MessagesResponse {
  if (started) throw bad('The provider began the answer twice.')
  return { ...message, id: ids.responseId(message.id) }
}

function* takeEvent(
  gathered: Gathered,
  event: Exclude<StreamEvent, { type: 'message_start' | 'message_stop' | 'ping' | 'error' }>,
): Generator<LoopEvent> {
  const { started, blocks, open, ids } = gathered
  if (!started) throw bad('The provider continued an answer that it had not begun.')
  if (event.type === 'message_delta') {
    gathered.started = withDelta(started, event)
    return
  }
  if (event.type === 'content_block_start') {
    const begun = { ...beginBlock(event.content_block, ids), partialJson: '', citations: [], stopped: false }
    grow(gathered, printed(begun.block).length)
    if (blocks.length >= BLOCKS_MAX) throw tooLong(`has more than ${BLOCKS_MAX.toLocaleString('en')} blocks`)
    blocks.push(begun)
    open.set(event.index, begun)
    return
  }
  const block = open.get(event.index)
  if (!block) throw bad(`The provider continued block ${event.index}, which it had not begun.`)
  if (event.type === 'content_block_stop') block.stopped = true
  else yield* takeDelta(gathered, block, event.delta)
}

function* takeDelta(gathered: Gathered, open: OpenBlock, delta: Delta): Generator<LoopEvent> {
  const { block } = open
  if (delta.type === 'text_delta' && isBlock(block, 'text')) {
    grow(gathered, delta.text.length)
    open.block = { ...block, text: block.text + delta.text }
    gathered.isShown = true
    yield { type: 'text-delta', text: delta.text }
  } else if (delta.type === 'thinking_delta' && isBlock(block, 'thinking')) {
    grow(gathered, delta.thinking.length)
    open.block = { ...block, thinking: block.thinking + delta.thinking }
    gathered.isShown = true
    yield { type: 'thinking-delta', text: delta.thinking }
  } else if (delta.type === 'signature_delta' && isBlock(block, 'thinking')) {
    grow(gathered, delta.signature.length)
    open.block = { ...block, signature: delta.signature }
  } else if (delta.type === 'input_json_delta' && 'input' in block) {
    grow(gathered, delta.partial_json.length)
    open.partialJson += delta.partial_json
    gathered.isShown = true
    const toolUseId = isBlock(block, 'tool_use') ? block.id : ''
    yield { type: 'tool-input-delta', toolUseId, partialJson: delta.partial_json }
  } else if (delta.type === 'citations_delta' && isBlock(block, 'text')) {
    grow(gathered, printed(delta.citation).length)
    open.citations.push(delta.citation)
  } else if (delta.type === 'compaction_delta' && isBlock(block, 'compaction')) {
    grow(gathered, (delta.content?.length ?? 0) + (delta.encrypted_content?.length ?? 0))
    const encrypted =
      delta.encrypted_content === undefined ? {} : { encrypted_content: delta.encrypted_content }
    open.block = { ...block, content: delta.content, ...encrypted }
  }
}

function grow(gathered: Gathered, chars: number): void {
  gathered.chars += chars
  if (gathered.chars > ANSWER_CHARS_MAX)
    throw tooLong(`is longer than ${ANSWER_CHARS_MAX.toLocaleString('en')} characters`)
}

function tooLong(what: string): ProviderError {
  return new ProviderError(
    { kind: 'over-limit' },
    `The answer ${what}, so it was not read to its end. Ask for less at once.`,
  )
}

function finish({ blocks, requestId }: Gathered, started: MessagesResponse): CollectedResponse {
  const unreadable = new Set<string>()
  const content: Block[] = []
  const texts: JsonText[] = []
  let cutCall = false
  let isAltered = false
  let breaksSeal = false
  for (const open of blocks) {
    const read = readBlock(open)
    const isLast = open === blocks.at(-1)
    if (endsEarly(started) && (read.broken || (isLast && hasNoInput(open)))) {
      cutCall = true
      continue
    }
    if (read.broken && isBlock(read.block, 'tool_use')) unreadable.add(read.block.id)
    breaksSeal ||= isAltered && isThinking(read.block)
    isAltered ||= open.isAltered || read.broken || read.isRepaired
    content.push(read.block)
    texts.push(read.json)
  }
  const response = { ...started, content }
  const shell = toWellFormedJson(printed({ ...started, content: [] }))
  const json = withMember(withoutMember(shell, 'content'), 'content', `[${texts.join(',')}]`)
  return {
    response,
    json,
    unreadable,
    cutCall,
    breaksSeal,
    requestId,
  }
}

/** The answer was stopped, possibly inside a call. */
function endsEarly({ stop_reason: reason }: MessagesResponse): boolean {
  return reason === 'max_tokens' || reason === 'model_context_window_exceeded' || reason === 'refusal'
}

/** Only the name of the call arrived. An empty input that the model wrote itself would have arrived as `{}`. */
function hasNoInput({ block, partialJson }: OpenBlock): boolean {
  return isBlock(block, 'tool_use') && partialJson === ''
}

export interface ReadBlock {
  readonly block: Block
  readonly json: JsonText
  /** A call whose input cannot be read. */
  readonly broken: boolean
  /** It contained lone surrogates, which UTF-8 cannot encode. */
  readonly isRepaired: boolean
}

export function readBlock(open: OpenBlock): ReadBlock {
  const { block, json, broken } = withInput(open)
  const sound = toWellFormedJson(json)
  const isRepaired = sound !== json
  const parsed = parseBlock(isRepaired ? JSON.parse(sound) : block)
  if (!parsed.ok)
    throw bad(
      `The provider sent a block that the Messages API does not have: ${problemText(parsed.problem)}.`,
    )
  return { block: parsed.value, json: sound, broken, isRepaired }
}

function withInput(open: OpenBlock): Omit<ReadBlock, 'isRepaired'> {
  const { block, partialJson, citations, badInput } = open
  const given = badInput ?? partialJson
  if (given === '' || !('input' in block)) {
    const cited = withCitations(block, citations)
    return { block: cited, json: printed(cited), broken: false }
  }
  const shell = withoutMember(printed(block), 'input')
  const input = badInput === undefined ? parseInput(partialJson) : undefined
  if (input !== undefined)
    return { block: { ...block, input }, json: withMember(shell, 'input', partialJson), broken: false }
  const kept = { [UNREADABLE_INPUT]: given }
  return {
    block: { ...block, input: kept },
    json: withMember(shell, 'input', JSON.stringify(kept)),
    broken: true,
  }
}

function withCitations(block: Block, citations: readonly JsonObject[]): Block {
  if (citations.length === 0 || !isBlock(block, 'text')) return block
  return { ...block, citations: [...(block.citations ?? []), ...citations] }
}

function parseInput(text: string): JsonObject | undefined {
  return isTooDeep(text) ? undefined : parseJsonObject(text)
}

/** A value that is nested too deep cannot be serialized. */
function printed(value: unknown): JsonText {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw new ProviderError({ kind: 'bad-output' }, 'The answer is nested too deep to be kept.', { cause })
  }
}

function withDelta(
  message: MessagesResponse,
  event: Extract<StreamEvent, { type: 'message_delta' }>,
): MessagesResponse {
  const { stop_reason, stop_sequence, stop_details, container } = event.delta
  const known = Object.entries(event.usage).filter(([, value]) => value !== null && value !== undefined)
  return {
    ...message,
    stop_reason,
    stop_sequence,
    ...(stop_details === undefined ? {} : { stop_details }),
    ...(container === undefined ? {} : { container }),
    usage: { ...message.usage, ...Object.fromEntries(known) },
    ...(event.context_management ? { context_management: event.context_management } : {}),
    ...(event.input_transformations ? { input_transformations: event.input_transformations } : {}),
  }
}

function bad(message: string): ProviderError {
  return new ProviderError({ kind: 'bad-output' }, message)
}

function streamError(event: ErrorBody, requestId: string | undefined): ProviderError {
  const options = requestId === undefined ? {} : { requestId }
  const overflow = parseOverflow(event.error)
  const failure = overflow ? overflowFailure(overflow) : failureOf(event.error.type)
  return new ProviderError(failure, event.error.message, options)
}

/** An error inside a stream has no status, so its type alone says who must act. */
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
