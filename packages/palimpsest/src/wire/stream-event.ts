import type { JsonObject } from './json.ts'
import type { Block } from './message.ts'
import type { ErrorBody, InputTransformation, MessagesResponse, StopReason } from './response.ts'
import type { Usage } from './usage.ts'

export type Delta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string; readonly estimated_tokens?: number }
  | { readonly type: 'signature_delta'; readonly signature: string }
  | { readonly type: 'citations_delta'; readonly citation: JsonObject }
  | {
      readonly type: 'compaction_delta'
      readonly content: string | null
      readonly encrypted_content?: string | null
    }

/** Usage as the end of a stream reports it: cumulative, and only what is known by then. */
export type DeltaUsage = Partial<Usage> & { readonly output_tokens: number }

export type StreamEvent =
  | { readonly type: 'message_start'; readonly message: MessagesResponse }
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: Block }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: Delta }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | {
      readonly type: 'message_delta'
      readonly delta: {
        readonly stop_reason: StopReason | null
        readonly stop_sequence: string | null
        readonly stop_details?: JsonObject | null
        readonly container?: JsonObject | null
      }
      readonly usage: DeltaUsage
      readonly context_management?: { readonly applied_edits: readonly JsonObject[] } | null
      readonly input_transformations?: readonly InputTransformation[] | null
    }
  | { readonly type: 'message_stop' }
  | { readonly type: 'ping' }
  | ErrorBody
