import type { CacheControl } from './cache-control.ts'
import type { JsonObject } from './json.ts'

/** A tool definition. Client tools have a schema, server tools a dated `type`; both are passed on as they are. */
export interface Tool {
  readonly name?: string
  readonly type?: string | null
  readonly description?: string
  readonly input_schema?: JsonObject
  readonly input_examples?: readonly JsonObject[]
  /** Not part of the prefix until a search loads it. */
  readonly defer_loading?: boolean
  readonly eager_input_streaming?: boolean | null
  readonly strict?: boolean
  readonly allowed_callers?: readonly string[]
  readonly cache_control?: CacheControl | null
  readonly [field: string]: unknown
}

export type ToolChoice =
  | { readonly type: 'auto' | 'any'; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: 'tool'; readonly name: string; readonly disable_parallel_tool_use?: boolean }
  | { readonly type: 'none' }
