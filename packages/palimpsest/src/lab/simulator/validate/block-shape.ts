import { isJsonObject, type JsonObject } from '../../../wire/json.ts'
import { SERVER_RESULT_TYPES, type Role } from '../../../wire/message.ts'
import { refuse, type Refusal } from '../refusal.ts'
import { checkField, checkShape, type Shape } from './field.ts'
import type { Judged } from './judged.ts'
import { checkDocumentSource, checkImageSource } from './source-shape.ts'

const SERVER_RESULT: Shape = { tool_use_id: 'string' }
const SERVER_USE: Shape = { id: 'string', name: 'string', input: 'object' }

/** Fields of every block type. */
const BLOCK_SHAPES: { readonly [type: string]: Shape } = {
  text: { text: 'string', citations: 'list?' },
  image: { source: 'object' },
  document: { source: 'object' },
  search_result: { content: 'list', source: 'string', title: 'string' },
  thinking: { thinking: 'string', signature: 'string' },
  redacted_thinking: { data: 'string' },
  tool_use: { id: 'string', name: 'string', input: 'object' },
  tool_result: { tool_use_id: 'string', is_error: 'boolean?' },
  server_tool_use: SERVER_USE,
  mcp_tool_use: SERVER_USE,
  ...Object.fromEntries(SERVER_RESULT_TYPES.map((type) => [type, SERVER_RESULT])),
  container_upload: { file_id: 'string' },
  compaction: {
    content: 'string?',
    encrypted_content: 'string?',
    signature: 'string?',
    tool_changes: 'list?',
  },
  fallback: { from: 'object', to: 'object' },
  tool_addition: { tool: 'object' },
  tool_removal: { tool: 'object' },
  mcp_tool_listing: { tools: 'list' },
  tool_reference: { tool_name: 'string' },
  browser_state: { tabs: 'list' },
}

const USER_TYPES: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_result',
  'container_upload',
])
const ASSISTANT_TYPES: ReadonlySet<string> = new Set([
  'text',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'server_tool_use',
  'mcp_tool_use',
  'container_upload',
  'compaction',
  'fallback',
  'mcp_tool_listing',
  'document',
  ...SERVER_RESULT_TYPES,
])
/** A compaction block in a system message breaks a rule of its own. */
const SYSTEM_TYPES: ReadonlySet<string> = new Set(['text', 'tool_addition', 'tool_removal', 'compaction'])
const RESULT_TYPES: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_reference',
  'browser_state',
])
const ALLOWED: { readonly [role in Role]: ReadonlySet<string> } = {
  user: USER_TYPES,
  assistant: ASSISTANT_TYPES,
  system: SYSTEM_TYPES,
}

export function checkBlock(block: unknown, path: string, role: Role, judged: Judged): Refusal | undefined {
  if (!isJsonObject(block)) return refuse('request.object', { path })
  const type = block['type']
  if (type === undefined) return refuse('request.required', { path: `${path}.type` })
  if (typeof type !== 'string') return refuse('request.string', { path: `${path}.type` })
  if (type === 'cache_edits' && judged.cacheEdits) return checkField(block['edits'], 'list', `${path}.edits`)
  const shape = BLOCK_SHAPES[type]
  if (!shape)
    return judged.switches.unknownBlocks === 'accept'
      ? undefined
      : refuse('messages.tag-unknown', { path, tag: type })
  return (
    checkRole(type, path, role, judged) ??
    checkShape(block, shape, `${path}.${type}`) ??
    checkContent(block, type, { path, role }, judged)
  )
}

/** Text in a message or in the system prompt: never empty, and blank only if the switch accepts it. */
export function checkText(
  text: unknown,
  where: 'messages' | 'system',
  { switches }: Judged,
): Refusal | undefined {
  if (text === '') return refuse('messages.text-empty', { where })
  if (switches.blankText === 'refuse' && typeof text === 'string' && text.trim() === '')
    return refuse('messages.text-blank', { where })
  return undefined
}

function checkRole(type: string, path: string, role: Role, { version }: Judged): Refusal | undefined {
  if (type === 'tool_result' && role !== 'user') return refuse('pairing.result-role', { path })
  if (type === 'tool_use' && role !== 'assistant') return refuse('pairing.use-role', { path })
  if (type === 'document' && role === 'assistant' && version === '2026-10-21')
    return refuse('messages.document-in-assistant', { path })
  return ALLOWED[role].has(type) ? undefined : refuse('messages.block-role', { path, type, role })
}

interface Place {
  readonly path: string
  readonly role: Role
  /** Directly in a tool result, where the API was seen to accept an empty text. */
  readonly inResult?: boolean
}

function checkContent(block: JsonObject, type: string, at: Place, judged: Judged): Refusal | undefined {
  const { path } = at
  switch (type) {
    case 'text':
      return checkTextBlock(block, at, judged)
    case 'image':
      return checkImageSource(block, `${path}.image`, judged)
    case 'document':
      return (
        checkDocumentSource(block, `${path}.document`, judged) ??
        checkSourceBlocks(block['source'], `${path}.document`, judged)
      )
    case 'search_result':
      return checkInner(block['content'], { path: `${path}.search_result.content` }, judged)
    case 'tool_result':
      return checkResult(block, path, judged)
    case 'compaction':
      return block['content'] === '' ? refuse('compaction.content-empty', { path }) : undefined
    default:
      return undefined
  }
}

function checkTextBlock(
  block: JsonObject,
  { path, role, inResult }: Place,
  judged: Judged,
): Refusal | undefined {
  if (block['text'] === '' && block['cache_control']) return refuse('caching.empty-text', { path })
  if (block['text'] === '' && inResult)
    return judged.switches.emptyResultText === 'refuse' ? refuse('pairing.result-text-empty') : undefined
  const citations: unknown = block['citations']
  if (role === 'user' && judged.version === '2026-10-21' && Array.isArray(citations) && citations.length > 0)
    return refuse('messages.citations-in-user', { path })
  return checkText(block['text'], 'messages', judged)
}

/** The content of a document may itself be blocks. */
function checkSourceBlocks(source: unknown, path: string, judged: Judged): Refusal | undefined {
  const content = isJsonObject(source) ? source['content'] : undefined
  if (content === undefined || typeof content === 'string') return undefined
  return checkInner(content, { path: `${path}.source.content` }, judged)
}

/** Blocks inside a block: only those that a tool result may contain. */
function checkInner(content: unknown, at: Omit<Place, 'role'>, judged: Judged): Refusal | undefined {
  if (!Array.isArray(content)) return refuse('request.list', { path: at.path })
  for (const [k, inner] of content.entries()) {
    const refusal = checkInnerBlock(inner, { ...at, path: `${at.path}.${k}` }, judged)
    if (refusal) return refusal
  }
  return undefined
}

function checkResult(block: JsonObject, path: string, judged: Judged): Refusal | undefined {
  const at = `${path}.tool_result`
  const content: unknown = block['content']
  const isEmpty = content === undefined || content === '' || (Array.isArray(content) && content.length === 0)
  if (isEmpty)
    return judged.switches.emptyToolResult === 'refuse'
      ? refuse('pairing.result-empty', { path: at })
      : undefined
  if (typeof content === 'string') return undefined
  const refusal = checkInner(content, { path: `${at}.content`, inResult: true }, judged)
  if (refusal || !Array.isArray(content)) return refusal
  const onlyText = content.every((inner: unknown) => isJsonObject(inner) && inner['type'] === 'text')
  return block['is_error'] === true && !onlyText ? refuse('pairing.error-media', { path: at }) : undefined
}

function checkInnerBlock(inner: unknown, at: Omit<Place, 'role'>, judged: Judged): Refusal | undefined {
  const { path } = at
  if (!isJsonObject(inner)) return refuse('request.object', { path })
  const type = inner['type']
  if (typeof type !== 'string') return refuse('request.required', { path: `${path}.type` })
  if (!RESULT_TYPES.has(type))
    return judged.switches.unknownBlocks === 'accept'
      ? undefined
      : refuse('messages.tag-unknown', { path, tag: type })
  const shape = BLOCK_SHAPES[type]
  return (
    (shape && checkShape(inner, shape, `${path}.${type}`)) ??
    checkContent(inner, type, { ...at, role: 'user' }, judged)
  )
}
