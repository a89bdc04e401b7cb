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

export interface InputTransformation {
  readonly type: 'thinking_dropped' | 'thinking_mismatch_allowed'
  readonly path: string
  readonly reason: string
}

export interface CacheMissReason {
  readonly type: string
  readonly cache_missed_input_tokens?: number
}

export interface MessagesResponse {
  readonly id: string
  readonly type: 'message'
  readonly role: 'assistant'
  readonly model: string
  readonly content: readonly Block[]
  readonly stop_reason: StopReason | null
  readonly stop_sequence: string | null
  readonly stop_details?: JsonObject | null
  readonly usage: Usage
  readonly context_management?: { readonly applied_edits: readonly JsonObject[] } | null
  readonly input_transformations?: readonly InputTransformation[] | null
  readonly diagnostics?: { readonly cache_miss_reason: CacheMissReason | null } | null
  readonly container?: JsonObject | null
}

export interface ErrorBody {
  readonly type: 'error'
  readonly error: { readonly type: string; readonly message: string; readonly details?: JsonObject }
  readonly request_id?: string | null
}
