import type { JsonObject } from './json.ts'
import type { Block } from './message.ts'
import type { Usage } from './usage.ts'

export const STOP_REASONS = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
  'compaction',
] as const

export type StopReason = (typeof STOP_REASONS)[number]

/** A reason that this version does not know. Providers add new ones, so a `switch` over reasons has a default. */
export type OtherStopReason = string & {}

/** Why an answer was refused. */
export interface StopDetails {
  readonly type: string
  readonly category?: string | null
  readonly explanation?: string | null
  readonly fallback_credit_token?: string | null
  readonly fallback_has_prefill_claim?: boolean | null
  readonly recommended_model?: string | null
}

export interface InputTransformation {
  readonly type: 'thinking_dropped' | 'thinking_mismatch_allowed'
  /** `messages.i.content.j` */
  readonly path: string
  readonly reason: string
}

/** What server-side context management removed from this request. */
export interface AppliedEdit {
  readonly type: string
  readonly cleared_tool_uses?: number
  readonly cleared_thinking_turns?: number
  readonly cleared_input_tokens?: number
}

export interface AppliedContextManagement {
  readonly applied_edits: readonly AppliedEdit[]
}

export interface CacheMissReason {
  readonly type: string
  readonly cache_missed_input_tokens?: number
}

export interface Container {
  readonly id: string
  readonly expires_at: string
  readonly skills?: readonly JsonObject[] | null
}

export interface MessagesResponse {
  readonly id: string
  readonly type: 'message'
  readonly role: 'assistant'
  readonly model: string
  readonly content: readonly Block[]
  readonly stop_reason: StopReason | OtherStopReason | null
  readonly stop_sequence: string | null
  readonly stop_details?: StopDetails | null
  readonly usage: Usage
  readonly context_management?: AppliedContextManagement | null
  readonly input_transformations?: readonly InputTransformation[] | null
  readonly diagnostics?: { readonly cache_miss_reason: CacheMissReason | null } | null
  readonly container?: Container | null
}

export interface ErrorBody {
  readonly type: 'error'
  readonly error: { readonly type: string; readonly message: string; readonly details?: JsonObject }
  readonly request_id?: string | null
}
