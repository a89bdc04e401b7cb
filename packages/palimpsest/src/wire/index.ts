// palimpsest/wire: the Messages API as data, and the door for data from outside.

import '../require-runtime.ts'

export type { CacheControl } from './cache-control.ts'
export { chainHash, hashText } from './hash.ts'
export type { Hash } from './hash.ts'
export { findMember, isJsonObject, splitArray, splitObject, withMember, withoutMember } from './json.ts'
export type { Json, JsonObject, JsonText } from './json.ts'
export { BLOCK_TYPES, isBlock, isServerToolResult, isThinking, toBlocks } from './message.ts'
export type * from './message.ts'
export {
  EXTENDED_WINDOW_BETA,
  findModelFacts,
  isClaudeId,
  MODEL_FACTS,
  parseModelName,
  toModelName,
} from './model-facts.ts'
export type * from './model-facts.ts'
export { parseErrorBody, parseMessage, parseRequest, parseResponse, parseStreamEvent } from './parse.ts'
export type { OtherEvent, Parsed } from './parse.ts'
export type * from './request.ts'
export { STOP_REASONS } from './response.ts'
export type * from './response.ts'
export { problemText } from './shape.ts'
export type { Problem } from './shape.ts'
export { DELTA_TYPES, EVENT_TYPES } from './stream-event.ts'
export type * from './stream-event.ts'
export {
  contextUsage,
  conversationTokens,
  promptTokens,
  samplingsOf,
  servedPromptTokens,
  servedTokens,
} from './usage.ts'
export type * from './usage.ts'
