import { isJsonObject, type JsonObject } from '../../../wire/json.ts'
import type { MessagesRequest } from '../../../wire/request.ts'
import { refuse, type Refusal } from '../refusal.ts'
import { checkBlock, checkText } from './block-shape.ts'
import { checkField, checkOneOf, checkShape, type Shape } from './field.ts'
import type { Judged } from './judged.ts'
import { checkSettings } from './settings-shape.ts'

// Entry check: after it, the body is a `MessagesRequest`.

const MESSAGES_MAX = 100_000

const REQUEST_SHAPE: Shape = {
  model: 'string',
  messages: 'list',
  system: 'any?',
  tools: 'list?',
  tool_choice: 'object?',
  thinking: 'object?',
  output_config: 'object?',
  output_format: 'object?',
  context_management: 'object?',
  compaction: 'object?',
  cache_control: 'object?',
  diagnostics: 'object?',
  metadata: 'object?',
  stop_sequences: 'list?',
  stream: 'boolean?',
  speed: 'string?',
  service_tier: 'string?',
  thread: 'object?',
  container: 'any?',
  mcp_servers: 'list?',
  fallbacks: 'any?',
  fallback_credit_token: 'any?',
  inference_geo: 'string?',
  temperature: 'any?',
  top_p: 'any?',
  top_k: 'any?',
}

const TOOL_SHAPE: Shape = {
  name: 'string?',
  type: 'string?',
  description: 'string?',
  defer_loading: 'boolean?',
}

const MESSAGE_KEYS: ReadonlySet<string> = new Set(['role', 'content', 'clear_at', 'output_config'])

export type Shaped = { readonly request: MessagesRequest } | { readonly refusal: Refusal }

export function shapeRequest(given: JsonObject, judged: Judged): Shaped {
  const found = checkRequest(given, judged)
  if (found) return { refusal: found }
  const body = withoutNulls(given)
  // The checks above make this true.
  return hasRequestShape(body) ? { request: body } : { refusal: refuse('http.body-object') }
}

/** A null field means the same as an absent one. */
function withoutNulls(body: JsonObject): JsonObject {
  const entries = Object.entries(body)
  return entries.some(([, value]) => value === null)
    ? Object.fromEntries(entries.filter(([, value]) => value !== null))
    : body
}

function hasRequestShape(body: unknown): body is MessagesRequest {
  return isJsonObject(body)
}

function checkRequest(body: JsonObject, judged: Judged): Refusal | undefined {
  return (
    checkShape(body, REQUEST_SHAPE, '') ??
    checkMaxTokens(body, judged) ??
    checkExtraKeys(body, judged) ??
    checkSampling(body, judged) ??
    checkSettings(body) ??
    checkSystem(body['system'], judged) ??
    checkTools(body['tools'], judged) ??
    checkMessages(body['messages'], judged)
  )
}

function checkMaxTokens(body: JsonObject, { counting }: Judged): Refusal | undefined {
  const value = body['max_tokens']
  const refusal = checkField(value, counting ? 'integer?' : 'integer', 'max_tokens')
  if (refusal) return refusal
  return typeof value === 'number' && value < 0
    ? refuse('request.at-least', { path: 'max_tokens', least: 0 })
    : undefined
}

function checkExtraKeys(body: JsonObject, { switches }: Judged): Refusal | undefined {
  if (switches.unknownKeys === 'accept') return undefined
  const stranger = Object.keys(body).find((key) => key !== 'max_tokens' && REQUEST_SHAPE[key] === undefined)
  return stranger === undefined ? undefined : refuse('request.extra', { path: stranger })
}

function checkSampling(body: JsonObject, { version }: Judged): Refusal | undefined {
  for (const path of ['temperature', 'top_p', 'top_k']) {
    const value = body[path]
    if (value === undefined || value === null) continue
    if (version === '2026-10-21') return refuse('request.sampling-removed', { path })
    const refusal = path === 'top_k' ? checkTopK(value) : checkShare(value, path)
    if (refusal) return refusal
  }
  return undefined
}

function checkShare(value: unknown, path: string): Refusal | undefined {
  const isShare = typeof value === 'number' && value >= 0 && value <= 1
  return isShare ? undefined : refuse('request.range', { path })
}

function checkTopK(value: unknown): Refusal | undefined {
  const refusal = checkField(value, 'integer', 'top_k')
  if (refusal) return refusal
  return typeof value === 'number' && value < 0
    ? refuse('request.at-least', { path: 'top_k', least: 0 })
    : undefined
}

function checkSystem(system: unknown, judged: Judged): Refusal | undefined {
  if (system === undefined || typeof system === 'string') return undefined
  if (!Array.isArray(system)) return refuse('request.list', { path: 'system' })
  for (const [i, block] of system.entries()) {
    const path = `system.${i}`
    if (!isJsonObject(block)) return refuse('request.object', { path })
    const refusal =
      checkOneOf(block['type'] ?? '', ['text'], `${path}.type`) ??
      checkField(block['text'], 'string', `${path}.text`) ??
      checkText(block['text'], 'system', judged)
    if (refusal) return refusal
  }
  return undefined
}

function checkTools(tools: unknown, judged: Judged): Refusal | undefined {
  if (!Array.isArray(tools)) return undefined
  for (const [i, tool] of tools.entries()) {
    const path = `tools.${i}`
    if (!isJsonObject(tool)) return refuse('request.object', { path })
    const refusal = checkShape(tool, TOOL_SHAPE, path) ?? checkToolType(tool, path, judged)
    if (refusal) return refusal
  }
  return undefined
}

/** Families of tools that the API names; each has dated versions. */
const API_TOOLS =
  /^(?:(?:bash|text_editor|memory|computer|computer_toolset|browser_toolset|web_search|web_fetch|code_execution|tool_search_tool_regex|tool_search_tool_bm25|advisor)(?:_\d{8})?|mcp_toolset)$/

function checkToolType(tool: JsonObject, path: string, { switches }: Judged): Refusal | undefined {
  const type = tool['type'] ?? 'custom'
  if (type === 'custom') return checkCustomTool(tool, path)
  if (typeof type !== 'string') return refuse('request.string', { path: `${path}.type` })
  return switches.unknownBlocks === 'accept' || API_TOOLS.test(type)
    ? undefined
    : refuse('messages.tag-unknown', { path, tag: type })
}

/** A tool without a dated type is the client's own, and must have a name and a schema. */
function checkCustomTool(tool: JsonObject, path: string): Refusal | undefined {
  const at = `${path}.custom`
  const refusal = checkShape(tool, { name: 'string', input_schema: 'object' }, at)
  if (refusal) return refusal
  const schema = tool['input_schema']
  return isJsonObject(schema) && schema['type'] === 'object'
    ? undefined
    : refuse('tools.schema-type', { path: at })
}

function checkMessages(messages: unknown, judged: Judged): Refusal | undefined {
  if (!Array.isArray(messages)) return undefined
  if (messages.length === 0) return refuse('request.messages-none')
  if (messages.length > MESSAGES_MAX) return refuse('request.messages-over', { count: messages.length })
  for (let i = 0; i < messages.length; i++) {
    const refusal = checkMessage(messages[i], i, judged)
    if (refusal) return refusal
  }
  return undefined
}

function checkMessage(message: unknown, index: number, judged: Judged): Refusal | undefined {
  const path = `messages.${index}`
  if (!isJsonObject(message)) return refuse('request.object', { path })
  const role = message['role']
  if (role === undefined) return refuse('request.required', { path: `${path}.role` })
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    return refuse('request.one-of', {
      path: `${path}.role`,
      values: "'user', 'assistant' or 'system'",
    })
  if (judged.switches.unknownKeys === 'refuse') {
    const stranger = Object.keys(message).find((key) => !MESSAGE_KEYS.has(key))
    if (stranger !== undefined) return refuse('request.extra', { path: `${path}.${stranger}` })
  }
  const settings = checkShape(message, { clear_at: 'string?', output_config: 'object?' }, path)
  if (settings) return settings
  const content: unknown = message['content']
  if (content === undefined && role !== 'system')
    return refuse('request.required', { path: `${path}.content` })
  if (typeof content === 'string') return content === '' ? undefined : checkText(content, 'messages', judged)
  if (content === undefined) return undefined
  if (!Array.isArray(content)) return refuse('request.list', { path: `${path}.content` })
  for (let j = 0; j < content.length; j++) {
    const refusal = checkBlock(content[j], `${path}.content.${j}`, role, judged)
    if (refusal) return refusal
  }
  return undefined
}
