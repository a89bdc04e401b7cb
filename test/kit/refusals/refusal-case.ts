import type { SimulatorOptions } from '../../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import type { RuleId } from '../../../packages/palimpsest/src/lab/simulator/refusal.ts'
import type { JsonObject } from '../../../packages/palimpsest/src/wire/json.ts'

/** A request that breaks one rule, and exactly what is answered. */
export interface RefusalCase {
  readonly rule: RuleId
  /** Fields over `BASE`; undefined takes one away. */
  readonly body?: { readonly [field: string]: unknown }
  /** The whole body as text, instead. */
  readonly text?: string
  readonly headers?: { readonly [name: string]: string | undefined }
  readonly options?: SimulatorOptions
  readonly counting?: boolean
  readonly status?: number
  readonly type?: string
  readonly message: string
  readonly code?: string
  /** Under these switches the same request is answered. */
  readonly acceptedUnder?: NonNullable<SimulatorOptions['switches']>
}

export const BASE: JsonObject = {
  model: 'claude-opus-5-5',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'hi' }],
}

export const HEADERS = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }
export const NEWER = { 'anthropic-version': '2026-10-21' }

export const TOOL = { name: 'Read', input_schema: { type: 'object' } }

export function user(content: unknown): JsonObject {
  return { role: 'user', content } as JsonObject
}

export function assistant(...content: unknown[]): JsonObject {
  return { role: 'assistant', content } as JsonObject
}

export function text(words: string): JsonObject {
  return { type: 'text', text: words }
}

export function use(id: string, more: JsonObject = {}): JsonObject {
  return { type: 'tool_use', id, name: 'Read', input: {}, ...more }
}

export function result(id: string, more: JsonObject = {}): JsonObject {
  return { type: 'tool_result', tool_use_id: id, content: 'ok', ...more }
}

/** A conversation in which one tool was used. */
export function answered(useBlock: JsonObject, ...results: JsonObject[]): JsonObject[] {
  return [user('hi'), assistant(useBlock), user(results)]
}
