import type { OwnIds } from './own-ids.ts'
import { ProviderError } from '../../errors.ts'
import { isJsonObject } from '../../wire/json.ts'
import { isBlock, type Block, type ToolUseBlock } from '../../wire/message.ts'

// A block as it begins. The content of an answer is sent back with every later request, so what the API would refuse must not come in: we
// repair it if that changes nothing that was said, and reject it if it makes no sense.

export interface BegunBlock {
  readonly block: Block
  /** It differs from what came, so the provider's seals on what follows it in the same answer no longer fit. */
  readonly isAltered: boolean
  /** The input that came with the call, if it is not an object. */
  readonly badInput?: string
}

/** The API refuses longer names, and other characters, when they are sent back. */
const NAME_CHARS_MAX = 128
const NAME_FORM = /[^a-zA-Z0-9_-]/g
const SERVER_ID_FORM = /^[a-zA-Z0-9_-]+$/

/** Only a user message can contain these. */
const NOT_SAID: ReadonlySet<string> = new Set([
  'tool_result',
  'image',
  'document',
  'search_result',
  'tool_reference',
  'browser_state',
  'tool_addition',
  'tool_removal',
])

export function beginBlock(given: Block, ids: OwnIds): BegunBlock {
  // When a block begins, the door has checked only its type.
  const fields: Fields = { ...given }
  if (isBlock(given, 'text')) {
    if (!Array.isArray(fields['citations'] ?? [])) throw bad('a text whose citations are no list')
    return whole({ ...given, text: words(fields, 'text') })
  }
  if (isBlock(given, 'thinking')) {
    const [thinking, signature] = [words(fields, 'thinking'), words(fields, 'signature')]
    return whole({ ...given, thinking, signature })
  }
  if (isBlock(given, 'tool_use')) return beginCall(given, fields, ids)
  const isServerCall = isBlock(given, 'server_tool_use') || isBlock(given, 'mcp_tool_use')
  if (NOT_SAID.has(given.type) || (isServerCall && !isWholeServerCall(fields)))
    throw bad(`a block of type ${given.type} that no answer has`)
  return whole(given)
}

interface Fields {
  readonly [name: string]: unknown
}

function whole(block: Block): BegunBlock {
  return { block, isAltered: false }
}

/** Some servers omit fields that are still empty. */
function words(fields: Fields, name: string): string {
  const value = fields[name] ?? ''
  if (typeof value !== 'string') throw bad(`a block whose ${name} is no text`)
  return value
}

function beginCall(given: ToolUseBlock, { id, name, input = {} }: Fields, ids: OwnIds): BegunBlock {
  if (typeof name !== 'string' || name === '') throw bad('a call without the name of a tool')
  const own = {
    id: ids.toolId(typeof id === 'string' ? id : ''),
    name: name.slice(0, NAME_CHARS_MAX).replace(NAME_FORM, '_'),
  }
  const isAltered = own.id !== id || own.name !== name
  if (isJsonObject(input)) return { block: { ...given, ...own, input }, isAltered }
  return { block: { ...given, ...own, input: {} }, isAltered: true, badInput: JSON.stringify(input) }
}

function isWholeServerCall({ id, name, input }: Fields): boolean {
  return typeof id === 'string' && SERVER_ID_FORM.test(id) && typeof name === 'string' && isJsonObject(input)
}

function bad(what: string): ProviderError {
  return new ProviderError({ kind: 'bad-output' }, `The provider sent ${what}. Check the base URL.`)
}
