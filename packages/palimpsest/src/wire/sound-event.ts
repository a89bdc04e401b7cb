import { isJsonObject, type Json, type JsonObject } from './json.ts'

// What a stream reports beside the answer itself: figures, diagnoses, what the provider did to the request. Other servers omit some of it
// or spell it differently, and the answer is no worse for that. So invalid parts are removed here, before the door; the answer itself is
// checked there.

/** The event with only valid figures. Anything else is passed on as it is. */
export function soundEvent(event: unknown): unknown {
  if (!isJsonObject(event)) return event
  const { type, message, delta } = event
  if (type === 'message_start' && isJsonObject(message))
    return { ...event, message: { ...soundMembers(message), usage: soundUsage(message['usage']) } }
  if (type !== 'message_delta') return event
  return {
    ...soundMembers(event),
    delta: isJsonObject(delta) ? soundMembers(delta) : {},
    usage: soundUsage(event['usage'], ['output_tokens']),
  }
}

type IsSound = (value: Json) => boolean

const isText: IsSound = (value) => typeof value === 'string'
const isCount: IsSound = (value) => Number.isInteger(value) && Number(value) >= 0
const isRecord: IsSound = isJsonObject
const isTyped: IsSound = (value) => isJsonObject(value) && typeof value['type'] === 'string'

/** Optional members, and what each must be. */
const MEMBERS: { readonly [name: string]: IsSound } = {
  stop_reason: isText,
  stop_sequence: isText,
  stop_details: (value) =>
    isJsonObject(value) &&
    ['category', 'explanation'].every((name) => typeof (value[name] ?? '') === 'string'),
  context_management: (value) => isJsonObject(value) && isListOf(value['applied_edits'], isAppliedEdit),
  input_transformations: (value) => isListOf(value, isTransformation),
  diagnostics: (value) => isJsonObject(value) && isTyped(value['cache_miss_reason'] ?? { type: '' }),
  container: isRecord,
}

const isAppliedEdit: IsSound = (value) =>
  isTyped(value) &&
  isJsonObject(value) &&
  ['cleared_tool_uses', 'cleared_thinking_turns', 'cleared_input_tokens'].every((name) =>
    isCount(value[name] ?? 0),
  )

const isTransformation: IsSound = (value) =>
  isJsonObject(value) && ['type', 'path', 'reason'].every((name) => typeof value[name] === 'string')

function isListOf(value: Json | undefined, isSound: IsSound): boolean {
  return Array.isArray(value) && value.every((one: Json) => isSound(one))
}

function soundMembers(object: JsonObject): JsonObject {
  const entries = Object.entries(object).filter(([name, value]) => {
    const isSound = MEMBERS[name]
    return !isSound || value === undefined || value === null || isSound(value)
  })
  return Object.fromEntries(entries)
}

const isCacheCreation: IsSound = (value) =>
  isJsonObject(value) &&
  ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'].every((name) => isCount(value[name] ?? null))

const FIGURES: { readonly [name: string]: IsSound } = {
  input_tokens: isCount,
  output_tokens: isCount,
  cache_creation_input_tokens: isCount,
  cache_read_input_tokens: isCount,
  cache_creation: isCacheCreation,
  output_tokens_details: (value) => isJsonObject(value) && isCount(value['thinking_tokens'] ?? 0),
  server_tool_use: isRecord,
  iterations: (value) => isListOf(value, isIteration),
  fallback_credit: isRecord,
  service_tier: isText,
  inference_geo: isText,
  speed: isText,
}

const isIteration: IsSound = (value) =>
  isTyped(value) &&
  isJsonObject(value) &&
  isCount(value['input_tokens'] ?? null) &&
  isCount(value['output_tokens'] ?? null) &&
  isCount(value['cache_creation_input_tokens'] ?? 0) &&
  isCount(value['cache_read_input_tokens'] ?? 0) &&
  (value['cache_creation'] === undefined ||
    value['cache_creation'] === null ||
    isCacheCreation(value['cache_creation']))

/** A required figure that is missing counts as 0, which readers treat as "not reported". */
function soundUsage(
  usage: Json | undefined,
  required: readonly string[] = ['input_tokens', 'output_tokens'],
): JsonObject {
  const entries = Object.entries(isJsonObject(usage) ? usage : {}).filter(([name, value]) => {
    const isSound = FIGURES[name]
    return !isSound || value === undefined || value === null || isSound(value)
  })
  const sound: JsonObject = Object.fromEntries(entries)
  const missing = required.filter((name) => typeof sound[name] !== 'number')
  return { ...sound, ...Object.fromEntries(missing.map((name) => [name, 0])) }
}
