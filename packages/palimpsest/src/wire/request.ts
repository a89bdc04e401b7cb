import type { JsonObject } from './json.ts'
import type { CacheControl, Effort, TextBlock, WireMessage } from './message.ts'
import type { Tool, ToolChoice } from './tool.ts'

export type { Effort } from './message.ts'
export type { Tool, ToolChoice } from './tool.ts'

export interface BlockBinding {
  readonly prefix_mismatch_behavior?: 'error' | 'drop_block' | null
}

export type ThinkingDisplay = 'summarized' | 'omitted' | 'updates'

export type Thinking =
  | {
      readonly type: 'adaptive'
      readonly display?: ThinkingDisplay | null
      readonly block_binding?: BlockBinding | null
    }
  | {
      readonly type: 'enabled'
      readonly budget_tokens: number
      readonly display?: ThinkingDisplay | null
      readonly block_binding?: BlockBinding | null
    }
  | { readonly type: 'disabled' }
  | { readonly type: 'between_tools' }

export interface ContextManagement {
  readonly edits?: readonly ContextEdit[]
}

export type ContextEdit =
  | {
      readonly type: 'clear_tool_uses_20250919'
      readonly trigger?: { readonly type: 'input_tokens' | 'tool_uses'; readonly value: number }
      readonly keep?: { readonly type: 'tool_uses'; readonly value: number }
      readonly clear_at_least?: { readonly type: 'input_tokens'; readonly value: number } | null
      readonly exclude_tools?: readonly string[] | null
      readonly clear_tool_inputs?: boolean | readonly string[] | null
    }
  | {
      readonly type: 'clear_thinking_20251015'
      readonly keep?:
        | { readonly type: 'thinking_turns'; readonly value: number }
        | { readonly type: 'all' }
        | 'all'
    }
  | {
      readonly type: 'compact_20260112'
      readonly trigger?: { readonly type: 'input_tokens'; readonly value: number } | null
      readonly pause_after_compaction?: boolean
      readonly instructions?: string | null
    }

export interface OutputFormat {
  readonly type: 'json_schema'
  readonly schema: JsonObject
}

export interface OutputConfig {
  readonly effort?: Effort | null
  readonly format?: OutputFormat | null
  readonly task_budget?: {
    readonly type: 'tokens'
    readonly total: number
    readonly remaining?: number | null
  } | null
}

export interface ContainerConfig {
  readonly id?: string | null
  readonly skills?:
    | readonly {
        readonly skill_id: string
        readonly type: 'anthropic' | 'custom'
        readonly version?: string
      }[]
    | null
}

export interface McpServer {
  readonly type: 'url'
  readonly name: string
  readonly url: string
  readonly authorization_token?: string | null
  readonly tool_configuration?: {
    readonly allowed_tools?: readonly string[] | null
    readonly enabled?: boolean | null
  } | null
}

/** Another model that answers if the first one refuses. Further fields override those of the request. */
export interface Fallback {
  readonly model: string
  readonly max_tokens?: number | null
  readonly output_config?: OutputConfig | null
  readonly speed?: Speed | null
  readonly thinking?: Thinking | null
  readonly [field: string]: unknown
}

export type Speed = 'standard' | 'fast'

/**
 * The body of `POST /v1/messages`. Betas, the user profile and the workspace are in headers, not in the body. The current API version
 * refuses `temperature`, `top_p` and `top_k`, but older clients still send them.
 */
export interface MessagesRequest {
  readonly model: string
  readonly max_tokens: number
  readonly messages: readonly WireMessage[]
  readonly system?: string | readonly TextBlock[]
  readonly tools?: readonly Tool[]
  readonly tool_choice?: ToolChoice
  readonly thinking?: Thinking
  readonly output_config?: OutputConfig
  /** The older place of `output_config.format`. */
  readonly output_format?: OutputFormat | null
  readonly context_management?: ContextManagement | null
  readonly compaction?: { readonly type: 'summarize'; readonly instructions?: string | null } | null
  readonly cache_control?: CacheControl | null
  readonly diagnostics?: { readonly previous_message_id?: string | null } | null
  readonly metadata?: { readonly user_id?: string | null }
  readonly stop_sequences?: readonly string[]
  readonly stream?: boolean
  readonly speed?: Speed | null
  readonly service_tier?: 'auto' | 'standard_only'
  readonly thread?:
    | { readonly type: 'create' }
    | { readonly type: 'continue'; readonly previous_message_id: string }
    | null
  readonly container?: ContainerConfig | string | null
  readonly mcp_servers?: readonly McpServer[]
  readonly fallbacks?: readonly Fallback[] | 'default' | null
  readonly fallback_credit_token?:
    | string
    | { readonly token: string; readonly mode?: 'strict' | 'best_effort' }
    | null
  readonly inference_geo?: string | null
  readonly temperature?: number
  readonly top_p?: number
  readonly top_k?: number
}

/** The answer of `POST /v1/messages/count_tokens`. */
export interface TokenCount {
  readonly input_tokens: number
  readonly context_management?: { readonly original_input_tokens: number } | null
}
