import { isJsonObject, type JsonObject } from './json.ts'
import type { Block, KnownBlock, WireMessage } from './message.ts'
import type { MessagesRequest } from './request.ts'
import type { ErrorBody, MessagesResponse } from './response.ts'
import {
  aBoolean,
  aCount,
  aNumber,
  anObject,
  aString,
  aValue,
  byType,
  listOf,
  literal,
  objectWith,
  optional,
  stringOr,
  type Problem,
  type Shape,
} from './shape.ts'
import { DELTA_TYPES, EVENT_TYPES, type Delta, type StreamEvent } from './stream-event.ts'

// The door. Data from outside (a socket, a file) is `unknown` until one of these functions has checked it; after that its types hold. Only
// what we read is required; unknown fields, block types and events are kept. Whether the API would accept a request is a question for the
// simulator.

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem }

/** An event of a type that this version does not know. It is passed on, not interpreted. */
export interface OtherEvent {
  readonly type: 'other'
  readonly event: JsonObject
}

export function parseMessage(value: unknown): Parsed<WireMessage> {
  return parsed(value, MESSAGE, isMessage)
}

export function parseRequest(value: unknown): Parsed<MessagesRequest> {
  return parsed(value, REQUEST, isRequest)
}

export function parseResponse(value: unknown): Parsed<MessagesResponse> {
  return parsed(value, RESPONSE, isResponse)
}

/** A block of an answer, once it is complete. */
export function parseBlock(value: unknown): Parsed<Block> {
  return parsed(value, BLOCK, isBlockShape)
}

export function parseErrorBody(value: unknown): Parsed<ErrorBody> {
  return parsed(value, ERROR_BODY, isErrorBody)
}

export function parseStreamEvent(value: unknown): Parsed<StreamEvent | OtherEvent> {
  if (isJsonObject(value) && isOther(value) && isEvent(value)) {
    return { ok: true, value: { type: 'other', event: value } }
  }
  return parsed(value, EVENT, isEvent)
}

const serverUse = objectWith({ id: aString, name: aString, input: aValue })
const serverResult = objectWith({ tool_use_id: aString })
const toolChange = objectWith({ tool: anObject })

/** What a block of each known type must have, except for blocks inside it. */
const PLAIN_BLOCKS: { readonly [Type in KnownBlock['type']]: Shape } = {
  text: objectWith({ text: aString }),
  image: objectWith({ source: objectWith({ type: aString }) }),
  document: objectWith({ source: objectWith({ type: aString }) }),
  search_result: objectWith({ source: aString, title: aString, content: listOf(anObject) }),
  thinking: objectWith({ thinking: aString, signature: aString }),
  redacted_thinking: objectWith({ data: aString }),
  tool_use: objectWith({ id: aString, name: aString, input: aValue }),
  tool_result: objectWith({ tool_use_id: aString, is_error: optional(aBoolean) }),
  server_tool_use: serverUse,
  mcp_tool_use: serverUse,
  web_search_tool_result: serverResult,
  web_fetch_tool_result: serverResult,
  code_execution_tool_result: serverResult,
  bash_code_execution_tool_result: serverResult,
  text_editor_code_execution_tool_result: serverResult,
  tool_search_tool_result: serverResult,
  mcp_tool_result: serverResult,
  advisor_tool_result: serverResult,
  container_upload: objectWith({ file_id: aString }),
  tool_reference: objectWith({ tool_name: aString }),
  browser_state: objectWith({ tabs: listOf(anObject) }),
  compaction: objectWith({ content: optional(aString), signature: optional(aString) }),
  fallback: objectWith({ from: anObject, to: anObject }),
  tool_addition: toolChange,
  tool_removal: toolChange,
  mcp_tool_listing: objectWith({ mcp_server_name: aString, tools: listOf(anObject) }),
}

/** Results contain no results, so blocks are only checked one level down: no depth of nesting exhausts the stack. */
const BLOCK = byType({
  ...PLAIN_BLOCKS,
  tool_result: objectWith({
    tool_use_id: aString,
    content: optional(stringOr(listOf(byType(PLAIN_BLOCKS)))),
    is_error: optional(aBoolean),
  }),
})

const CONTENT = stringOr(listOf(BLOCK))

const MESSAGE = objectWith({ role: literal('user', 'assistant', 'system'), content: optional(CONTENT) })

const REQUEST = objectWith({
  model: aString,
  max_tokens: aCount,
  messages: listOf(MESSAGE),
  system: optional(CONTENT),
  tools: optional(listOf(anObject)),
  tool_choice: optional(objectWith({ type: aString })),
  thinking: optional(objectWith({ type: aString })),
  output_config: optional(anObject),
  output_format: optional(anObject),
  context_management: optional(objectWith({ edits: optional(listOf(objectWith({ type: aString }))) })),
  compaction: optional(objectWith({ type: aString })),
  cache_control: optional(objectWith({ type: aString })),
  diagnostics: optional(anObject),
  metadata: optional(anObject),
  stop_sequences: optional(listOf(aString)),
  stream: optional(aBoolean),
  temperature: optional(aNumber),
  top_p: optional(aNumber),
  top_k: optional(aNumber),
})

const COUNTS = {
  cache_creation_input_tokens: optional(aCount),
  cache_read_input_tokens: optional(aCount),
  cache_creation: optional(
    objectWith({ ephemeral_5m_input_tokens: aCount, ephemeral_1h_input_tokens: aCount }),
  ),
}
const ITERATIONS = listOf(
  objectWith({ ...COUNTS, type: aString, input_tokens: aCount, output_tokens: aCount }),
)
const USAGE = objectWith({
  ...COUNTS,
  input_tokens: aCount,
  output_tokens: aCount,
  iterations: optional(ITERATIONS),
})
const DELTA_USAGE = objectWith({
  ...COUNTS,
  input_tokens: optional(aCount),
  output_tokens: aCount,
  iterations: optional(ITERATIONS),
})

const APPLIED = objectWith({ applied_edits: listOf(objectWith({ type: aString })) })
const TRANSFORMATIONS = listOf(objectWith({ type: aString, path: aString, reason: aString }))
const STOP = {
  stop_reason: optional(aString),
  stop_sequence: optional(aString),
  stop_details: optional(anObject),
}

const RESPONSE = objectWith({
  ...STOP,
  id: aString,
  type: literal('message'),
  role: literal('assistant'),
  model: aString,
  content: listOf(BLOCK),
  usage: USAGE,
  context_management: optional(APPLIED),
  input_transformations: optional(TRANSFORMATIONS),
})

const ERROR_BODY = objectWith({
  type: literal('error'),
  error: objectWith({ type: aString, message: aString }),
})

const DELTAS: { readonly [Type in Delta['type']]: Shape } = {
  text_delta: objectWith({ text: aString }),
  input_json_delta: objectWith({ partial_json: aString }),
  thinking_delta: objectWith({ thinking: aString }),
  signature_delta: objectWith({ signature: aString }),
  citations_delta: objectWith({ citation: anObject }),
  compaction_delta: objectWith({ content: optional(aString) }),
}

const EVENTS: { readonly [Type in StreamEvent['type']]: Shape } = {
  message_start: objectWith({ message: RESPONSE }),
  // A block begins empty, so some fields are still missing.
  content_block_start: objectWith({ index: aCount, content_block: objectWith({ type: aString }) }),
  content_block_delta: objectWith({ index: aCount, delta: byType(DELTAS) }),
  content_block_stop: objectWith({ index: aCount }),
  message_delta: objectWith({
    delta: objectWith(STOP),
    usage: DELTA_USAGE,
    context_management: optional(APPLIED),
    input_transformations: optional(TRANSFORMATIONS),
  }),
  message_stop: anObject,
  ping: anObject,
  error: ERROR_BODY,
}
const EVENT = byType(EVENTS)

function parsed<T>(value: unknown, shape: Shape, fits: (value: unknown) => value is T): Parsed<T> {
  const problem = shape(value, '')
  if (problem) return { ok: false, problem }
  return fits(value) ? { ok: true, value } : { ok: false, problem: UNREACHABLE }
}

/** `fits` checks the same shape, so this never occurs. It keeps the types honest. */
const UNREACHABLE: Problem = { path: '', expected: 'a value that fits', found: 'one that does not' }

function isMessage(value: unknown): value is WireMessage {
  return MESSAGE(value, '') === undefined
}

function isBlockShape(value: unknown): value is Block {
  return BLOCK(value, '') === undefined
}

function isRequest(value: unknown): value is MessagesRequest {
  return REQUEST(value, '') === undefined
}

function isResponse(value: unknown): value is MessagesResponse {
  return RESPONSE(value, '') === undefined
}

function isErrorBody(value: unknown): value is ErrorBody {
  return ERROR_BODY(value, '') === undefined
}

function isEvent(value: unknown): value is StreamEvent {
  return EVENT(value, '') === undefined
}

/** True for an event, or a delta in one, of a type that no table has. */
function isOther({ type, delta }: JsonObject): boolean {
  if (!EVENT_TYPES.some((known) => known === type)) return true
  if (type !== 'content_block_delta' || !isJsonObject(delta)) return false
  return !DELTA_TYPES.some((known) => known === delta['type'])
}
