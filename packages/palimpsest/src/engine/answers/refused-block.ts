import type { ProviderError } from '../../errors.ts'
import type { EditEntry } from '../../transcript/entry.ts'
import { settle, type ThinkingPolicy } from '../../transcript/settle.ts'
import { toViewBlock, type ViewBlock } from '../../transcript/view-block.ts'
import type { View } from '../../transcript/view.ts'
import { isBlock, isThinking, type Block } from '../../wire/message.ts'
import type { EntryBody } from '../session.ts'

// A provider that refuses one block of a conversation refuses every request that holds it: a picture that it cannot read, a block of a kind that
// another endpoint made. Where the error names the block, a stand-in takes its place, as a declared edit that can be undone.

export interface RefusedBlock {
  readonly edit: EntryBody<EditEntry>
  /** Where it stood in the request. */
  readonly path: string
  readonly type: string
  readonly notice: string
}

/** `messages.4.content.1`, and what of it: marks of the cache are ours, not the block's. */
const PATH = /\bmessages\.(\d+)\.content\.(\d+)\b(?!\.cache_control)/
const SAID_CHARS_MAX = 200

/** Undefined where the error names none, or one that must stay: the user's words, thinking, a stand-in. */
export function refusedBlock(
  view: View,
  { failure, message }: ProviderError,
  thinking: ThinkingPolicy,
): RefusedBlock | undefined {
  const place = failure.kind === 'invalid-request' ? PATH.exec(message) : null
  const block = place ? sentBlock(view, thinking, [Number(place[1]), Number(place[2])]) : undefined
  if (!place || !block?.original) return undefined
  const standIn = standInFor(block.block, message.slice(0, SAID_CHARS_MAX))
  if (!standIn) return undefined
  const text = JSON.stringify(standIn)
  const freedTokens = Math.max(0, block.tokens - toViewBlock(block.at, text, false).tokens)
  const { type } = block.block
  return {
    edit: { kind: 'edit', cause: 'forced', replace: [{ at: block.at, with: [text] }], drop: [], freedTokens },
    path: place[0],
    type,
    notice: `The provider does not take a block of the conversation (${type}): it is left out from now on. \`palimpsest context\` shows it and how to undo that.`,
  }
}

/** As the request had it: nodes of which nothing is sent have no place in it. */
function sentBlock(
  view: View,
  thinking: ThinkingPolicy,
  [message, index]: [number, number],
): ViewBlock | undefined {
  const { texts, blocks } = settle(view, thinking)
  const sent = texts.flatMap((text, node) => (text === '' ? [] : [node]))
  return blocks[sent[message] ?? -1]?.[index]
}

function standInFor(block: Block, said: string): Block | undefined {
  if (isBlock(block, 'text') || isThinking(block) || isBlock(block, 'compaction')) return undefined
  const why = `The provider did not take it: ${said}`
  if (!isBlock(block, 'tool_result'))
    return { type: 'text', text: `[A block of type ${block.type} stood here. ${why}]` }
  const { tool_use_id } = block
  const content = `[The result of this call is left out. ${why}]`
  return { type: 'tool_result', tool_use_id, content, is_error: true }
}
