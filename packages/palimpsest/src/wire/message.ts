import type { CacheControl } from './cache-control.ts'
import type { Json, JsonObject } from './json.ts'
import type { Tool } from './tool.ts'

export type { CacheControl } from './cache-control.ts'

// The Messages API's conversation as plain data, with the wire's own field names. Every type is open: fields and block types that are not
// listed here pass through unchanged, because nothing serializes a block again.

export type Role = 'user' | 'assistant' | 'system'

export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max'

export interface TextBlock {
  readonly type: 'text'
  readonly text: string
  readonly citations?: readonly JsonObject[] | null
  readonly cache_control?: CacheControl | null
}

/** Where the bytes of an image or document are. `base64`, `text` and `content` carry them; `url` and `file` point to them. */
export interface MediaSource {
  readonly type: string
  readonly media_type?: string | undefined
  readonly data?: string | undefined
  readonly url?: string | undefined
  readonly file_id?: string | undefined
  readonly content?: string | readonly Block[]
}

export interface ImageBlock {
  readonly type: 'image'
  readonly source: MediaSource
  readonly transformations?: { readonly oversized_image?: 'downsize' | 'error' } | null
  readonly cache_control?: CacheControl | null
}

export interface CitationsConfig {
  readonly enabled?: boolean
}

export interface DocumentBlock {
  readonly type: 'document'
  readonly source: MediaSource
  readonly title?: string | null
  readonly context?: string | null
  readonly citations?: CitationsConfig | null
  readonly cache_control?: CacheControl | null
}

export interface SearchResultBlock {
  readonly type: 'search_result'
  readonly content: readonly TextBlock[]
  readonly source: string
  readonly title: string
  readonly citations?: CitationsConfig
  readonly cache_control?: CacheControl | null
}

export interface ThinkingBlock {
  readonly type: 'thinking'
  readonly thinking: string
  readonly signature: string
}

export interface RedactedThinkingBlock {
  readonly type: 'redacted_thinking'
  readonly data: string
}

/** Who called the tool: the model itself, or code that a server tool runs. */
export interface ToolCaller {
  readonly type: string
  readonly tool_id?: string
}

export interface ToolUseBlock {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: Json
  readonly caller?: ToolCaller
  readonly toolset_name?: string | null
  readonly cache_control?: CacheControl | null
}

export interface ToolResultBlock {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content?: string | readonly Block[]
  readonly is_error?: boolean
  readonly toolset_name?: string | null
  readonly cache_control?: CacheControl | null
}

export interface ServerToolUseBlock {
  readonly type: 'server_tool_use' | 'mcp_tool_use'
  readonly id: string
  readonly name: string
  readonly input: Json
  readonly server_name?: string
  readonly caller?: ToolCaller
  readonly cache_control?: CacheControl | null
}

export const SERVER_RESULT_TYPES = [
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'mcp_tool_result',
  'advisor_tool_result',
] as const

export interface ServerToolResultBlock {
  readonly type: (typeof SERVER_RESULT_TYPES)[number]
  readonly tool_use_id: string
  readonly content?: Json
  readonly is_error?: boolean
  readonly caller?: ToolCaller
  readonly cache_control?: CacheControl | null
}

export interface ContainerUploadBlock {
  readonly type: 'container_upload'
  readonly file_id: string
  readonly cache_control?: CacheControl | null
}

export interface ToolReferenceBlock {
  readonly type: 'tool_reference'
  readonly tool_name: string
  readonly cache_control?: CacheControl | null
}

/** What the browser shows, inside the result of a browser tool. */
export interface BrowserStateBlock {
  readonly type: 'browser_state'
  readonly tabs: readonly JsonObject[]
  readonly state_changes?: readonly JsonObject[] | null
  readonly cache_control?: CacheControl | null
}

export interface CompactionBlock {
  readonly type: 'compaction'
  readonly content?: string | null
  readonly encrypted_content?: string | null
  readonly signature?: string | null
  readonly tool_changes?: readonly ToolChangeBlock[] | null
  readonly cache_control?: CacheControl | null
}

export interface FallbackBlock {
  readonly type: 'fallback'
  readonly from: { readonly model: string }
  readonly to: { readonly model: string }
  readonly trigger?: Json
}

/** A tool by name (`tool_reference`), an MCP server's tool or all of them, or a definition in place (`tool_definition`). */
export interface ToolChange {
  readonly type: string
  readonly name?: string
  readonly server_name?: string
  readonly definition?: Tool
}

export interface ToolChangeBlock {
  readonly type: 'tool_addition' | 'tool_removal'
  readonly tool: ToolChange
  readonly cache_control?: CacheControl | null
}

export interface McpToolListingBlock {
  readonly type: 'mcp_tool_listing'
  readonly mcp_server_name: string
  readonly tools: readonly JsonObject[]
}

export type KnownBlock =
  | TextBlock
  | ImageBlock
  | DocumentBlock
  | SearchResultBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ToolResultBlock
  | ServerToolUseBlock
  | ServerToolResultBlock
  | ContainerUploadBlock
  | ToolReferenceBlock
  | BrowserStateBlock
  | CompactionBlock
  | FallbackBlock
  | ToolChangeBlock
  | McpToolListingBlock

/** Every block type that this version knows. The conformance test compares the list with the published types. */
export const BLOCK_TYPES = [
  'text',
  'image',
  'document',
  'search_result',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_result',
  'server_tool_use',
  'mcp_tool_use',
  ...SERVER_RESULT_TYPES,
  'container_upload',
  'tool_reference',
  'browser_state',
  'compaction',
  'fallback',
  'tool_addition',
  'tool_removal',
  'mcp_tool_listing',
] as const satisfies readonly KnownBlock['type'][]

/** A block of a type that this version does not know. It is passed on, never read. */
export interface UnknownBlock {
  readonly type: string
  readonly [field: string]: Json | undefined
}

export type Block = KnownBlock | UnknownBlock

export interface WireMessage {
  readonly role: Role
  readonly content?: string | readonly Block[]
  readonly clear_at?: 'next_user_message' | 'never' | null
  readonly output_config?: { readonly effort?: Effort | null } | null
}

export type BlockOf<T extends KnownBlock['type']> = Extract<KnownBlock, { readonly type: T }>

/** Narrows a block to one known type. (A plain comparison cannot: `type` of an unknown block is any string.) */
export function isBlock<T extends KnownBlock['type']>(block: Block, type: T): block is BlockOf<T> {
  return block.type === type
}

export function isThinking(block: Block): block is ThinkingBlock | RedactedThinkingBlock {
  return block.type === 'thinking' || block.type === 'redacted_thinking'
}

export function isServerToolResult(block: Block): block is ServerToolResultBlock {
  return SERVER_RESULT_TYPES.some((type) => type === block.type)
}

/** Content as blocks: a string is one text block, absent content is none. */
export function toBlocks(content: string | readonly Block[] | undefined): readonly Block[] {
  if (content === undefined) return []
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}
