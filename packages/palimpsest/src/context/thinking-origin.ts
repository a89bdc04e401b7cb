import type { EntryBody } from '../situation/session.ts'
import type { MessageEntry } from '../transcript/entry.ts'
import { chainEnd, settle, type ThinkingPolicy } from '../transcript/settle.ts'
import type { View } from '../transcript/view.ts'
import type { Hash } from '../wire/hash.ts'
import { isBlock, isThinking, toBlocks, type WireMessage } from '../wire/message.ts'

// Thinking is sent only after what it was made under. For an answer that was observed we know that, and it stays known when the owner moves
// or edits it. For an answer in a history from elsewhere we trust the owner: it was made under what comes before it there.

export function noteThinking(
  madeUnder: Map<string, Hash | undefined>,
  { message, under }: Pick<MessageEntry, 'message' | 'under'>,
): void {
  for (const seal of sealsOf(message)) if (!madeUnder.has(seal)) madeUnder.set(seal, under)
}

/** The same body, with what its thinking was made under. `view` is what comes before it. */
export function withThinkingOrigin(
  body: EntryBody<MessageEntry>,
  madeUnder: ReadonlyMap<string, Hash | undefined>,
  view: View,
  policy: ThinkingPolicy,
): EntryBody<MessageEntry> {
  const [seal] = sealsOf(body.message)
  if (seal === undefined || body.under !== undefined) return body
  const under = madeUnder.has(seal) ? madeUnder.get(seal) : chainEnd(settle(view, policy))
  return under === undefined ? body : { ...body, under }
}

export function hasThinking(message: WireMessage): boolean {
  return message.role === 'assistant' && toBlocks(message.content).some(isThinking)
}

function sealsOf(message: WireMessage): readonly string[] {
  if (message.role !== 'assistant') return []
  return toBlocks(message.content).flatMap((block) => {
    if (isBlock(block, 'thinking')) return [block.signature]
    return isBlock(block, 'redacted_thinking') ? [block.data] : []
  })
}
