import type { OwnerMessage } from '../../context/owner-message.ts'
import { isJsonObject, type JsonObject } from '../../wire/json.ts'
import { OWN_OPTIONS, isPart, type AiMessage, type AiOptions, type AiPart } from './ai-message.ts'
import { toJson } from './carry-data.ts'

// From messages of the AI SDK to those of the Messages API, in such a way that each converts back to what it was: parts without a
// counterpart are carried in a block type of our own, and members without one under a name of our own. None of this is sent; the provider's
// own adapter builds the request.

/** A part without a counterpart. */
export const PART_BLOCK = 'ai_sdk_part'
/** Members that only the AI SDK has. */
export const OPTIONS = 'ai_sdk_options'
export const MESSAGE_OPTIONS = 'ai_sdk_message_options'
export const OUTPUT = 'ai_sdk_output'

export interface WireMessages {
  readonly system: readonly JsonObject[]
  readonly messages: readonly OwnerMessage[]
}

/** Leading system messages become the system prompt. */
export function toWire(given: readonly AiMessage[]): WireMessages {
  const first = given.findIndex(({ role }) => role !== 'system')
  const head = given.slice(0, first < 0 ? given.length : first)
  return {
    system: head.flatMap(blocksOf),
    messages: given.slice(head.length).map((message) => ({
      role: message.role === 'tool' ? 'user' : message.role,
      content: blocksOf(message),
    })),
  }
}

function blocksOf({ role, content, providerOptions }: AiMessage): JsonObject[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content.filter(isPart)
  const blocks = parts.map((part) => blockOf(part, role))
  const [first, ...rest] = blocks
  if (!first || !providerOptions) return blocks
  const { options, cache } = splitOptions(providerOptions)
  const last = rest.pop()
  // A message's breakpoint goes to its last part.
  const marked = (block: JsonObject): JsonObject => (cache ? { ...block, cache_control: cache } : block)
  const opening = options ? { ...first, [MESSAGE_OPTIONS]: options } : first
  return last ? [opening, ...rest, marked(last)] : [marked(opening)]
}

function blockOf(part: AiPart, role: AiMessage['role']): JsonObject {
  const { options, cache } = splitOptions(part.providerOptions)
  return {
    ...bareBlock(part, role),
    ...(options ? { [OPTIONS]: options } : {}),
    ...(cache ? { cache_control: cache } : {}),
  }
}

function bareBlock(part: AiPart, role: AiMessage['role']): JsonObject {
  const { type, text, toolCallId, toolName } = part
  if (type === 'text' && text !== undefined) return { type: 'text', text }
  if (type === 'reasoning' && text !== undefined) return thoughtOf(part, text)
  if (toolCallId === undefined || toolName === undefined || part.providerExecuted) return inBlock(part)
  if (type === 'tool-call')
    return { type: 'tool_use', id: toolCallId, name: toolName, input: toJson(part.input ?? {}) }
  if (type === 'tool-result' && role === 'tool') return resultOf(toolCallId, part.output)
  return inBlock(part)
}

/** If the provider sealed it, it is thinking that may have to be dropped; otherwise it is only carried. */
function thoughtOf(part: AiPart, thinking: string): JsonObject {
  const signature = part.providerOptions?.['anthropic']?.['signature']
  return typeof signature === 'string' ? { type: 'thinking', thinking, signature } : inBlock(part)
}

/** Its options are beside it, as for every block. */
function inBlock(part: AiPart): JsonObject {
  return { type: PART_BLOCK, part: toJson({ ...part, providerOptions: undefined }) }
}

/** As text, with what is needed to convert it back. */
function resultOf(toolCallId: string, given: unknown): JsonObject {
  const output = toJson(given)
  const block = { type: 'tool_result', tool_use_id: toolCallId }
  if (!isJsonObject(output)) return { ...block, content: '', [OUTPUT]: output }
  const { type, value, ...more } = output
  const isError = type === 'error-text' || type === 'error-json' ? { is_error: true } : {}
  const kept = { type: type ?? null, ...more }
  if (typeof value === 'string' && (type === 'text' || type === 'error-text'))
    return {
      ...block,
      content: value,
      ...isError,
      ...(type === 'text' && Object.keys(more).length === 0 ? {} : { [OUTPUT]: kept }),
    }
  if (type === 'json' || type === 'error-json')
    return { ...block, content: JSON.stringify(value ?? null), ...isError, [OUTPUT]: kept }
  if (type === 'content' && Array.isArray(value))
    return { ...block, content: value.map(contentBlock), [OUTPUT]: kept }
  return { ...block, content: 'The tool was not run.', [OUTPUT]: output }
}

function contentBlock(part: unknown): JsonObject {
  if (!isJsonObject(part)) return { type: PART_BLOCK, part: null }
  const { type, text, ...more } = part
  const isPlain = type === 'text' && typeof text === 'string' && Object.keys(more).length === 0
  return isPlain ? { type, text } : { type: PART_BLOCK, part }
}

interface SplitOptions {
  readonly options: JsonObject | undefined
  /** The caller's own breakpoint. */
  readonly cache: JsonObject | undefined
}

/** Breakpoints are the Messages API's own; our marks are not part of the content. */
function splitOptions(given: AiOptions | undefined): SplitOptions {
  const { [OWN_OPTIONS]: _, anthropic, ...others } = given ?? {}
  const { cacheControl, ...rest } = anthropic ?? {}
  const cache = toJson(cacheControl)
  const all = Object.keys(rest).length > 0 ? { ...others, anthropic: rest } : others
  const options = toJson(all)
  return {
    options: isJsonObject(options) && Object.keys(options).length > 0 ? options : undefined,
    cache: isJsonObject(cache) ? cache : undefined,
  }
}
