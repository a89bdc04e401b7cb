import type { JsonObject } from './json.ts'
import type { Block } from './message.ts'
import type {
  AppliedContextManagement,
  Container,
  ErrorBody,
  InputTransformation,
  MessagesResponse,
  OtherStopReason,
  StopDetails,
  StopReason,
} from './response.ts'
import type { FallbackCredit, IterationUsage, OutputTokensDetails, ServerToolUsage } from './usage.ts'

export type Delta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string }
  | {
      readonly type: 'thinking_delta'
      readonly thinking: string
      readonly estimated_tokens?: number | null
    }
  | { readonly type: 'signature_delta'; readonly signature: string }
  | { readonly type: 'citations_delta'; readonly citation: JsonObject }
  | {
      readonly type: 'compaction_delta'
      readonly content: string | null
      readonly encrypted_content?: string | null
    }

export const DELTA_TYPES = [
  'text_delta',
  'input_json_delta',
  'thinking_delta',
  'signature_delta',
  'citations_delta',
  'compaction_delta',
] as const satisfies readonly Delta['type'][]

/** Usage as the end of a stream reports it: cumulative, with only what is known by then, and without the lifetimes of cache writes. */
export interface DeltaUsage {
  readonly output_tokens: number
  readonly input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly output_tokens_details?: OutputTokensDetails | null
  readonly server_tool_use?: ServerToolUsage | null
  readonly iterations?: readonly IterationUsage[] | null
  readonly fallback_credit?: FallbackCredit | null
}

export type StreamEvent =
  | { readonly type: 'message_start'; readonly message: MessagesResponse }
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: Block }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: Delta }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | {
      readonly type: 'message_delta'
      readonly delta: {
        readonly stop_reason: StopReason | OtherStopReason | null
        readonly stop_sequence: string | null
        readonly stop_details?: StopDetails | null
        readonly container?: Container | null
      }
      readonly usage: DeltaUsage
      readonly context_management?: AppliedContextManagement | null
      readonly input_transformations?: readonly InputTransformation[] | null
    }
  | { readonly type: 'message_stop' }
  | { readonly type: 'ping' }
  | ErrorBody

export const EVENT_TYPES = [
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
  'error',
] as const satisfies readonly StreamEvent['type'][]
