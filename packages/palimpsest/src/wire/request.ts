import type { Json, JsonObject } from './json.ts'
import type { CacheControl, TextBlock, WireMessage } from './message.ts'

export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max'

export interface BlockBinding {
  readonly prefix_mismatch_behavior?: 'error' | 'drop_block'
}

export type Thinking =
  | { readonly type: 'adaptive'; readonly display?: string; readonly block_binding?: BlockBinding }
  | {
      readonly type: 'enabled'
      readonly budget_tokens: number
      readonly display?: string
      readonly block_binding?: BlockBinding
    }
  | { readonly type: 'disabled' }
  | { readonly type: 'between_tools'; readonly display?: string; readonly block_binding?: BlockBinding }

/** A tool definition. Client tools have a schema, server tools a dated `type`; both are carried as they are. */
export interface Tool {
  readonly name?: string
  readonly type?: string
  readonly description?: string
  readonly input_schema?: JsonObject
  readonly defer_loading?: boolean
  readonly cache_control?: CacheControl | null
  readonly [field: string]: unknown
}

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

export interface OutputConfig {
  readonly effort?: Effort | null
  readonly format?: JsonObject | null
  readonly task_budget?: JsonObject | null
}

/** The body of `POST /v1/messages`. Betas travel in a header, so they are not part of it. */
export interface MessagesRequest {
  readonly model: string
  readonly max_tokens: number
  readonly messages: readonly WireMessage[]
  readonly system?: string | readonly TextBlock[]
  readonly tools?: readonly Tool[]
  readonly tool_choice?: JsonObject
  readonly thinking?: Thinking
  readonly output_config?: OutputConfig
  readonly context_management?: ContextManagement | null
  readonly compaction?: { readonly type: 'summarize'; readonly instructions?: string | null } | null
  readonly cache_control?: CacheControl | null
  readonly diagnostics?: { readonly previous_message_id?: string | null } | null
  readonly metadata?: { readonly user_id?: string | null }
  readonly stop_sequences?: readonly string[]
  readonly stream?: boolean
  readonly speed?: string | null
  readonly service_tier?: string
  readonly thread?: JsonObject | null
  readonly container?: Json
  readonly mcp_servers?: readonly JsonObject[]
  readonly fallbacks?: readonly JsonObject[] | null
  readonly fallback_credit_token?: string | null
  readonly inference_geo?: string | null
  readonly temperature?: number
  readonly top_p?: number
  readonly top_k?: number
}
