import { isBlock, isThinking, toBlocks, type Block, type WireMessage } from '../../../wire/message.ts'
import type { ModelFacts } from '../../../wire/model-facts.ts'
import type { MessagesRequest } from '../../../wire/request.ts'

// What the model sees of a request: without dropped or stripped thinking, and from the last compaction block on.

export function effectiveRequest(
  request: MessagesRequest,
  dropped: ReadonlySet<string>,
  facts: ModelFacts,
): MessagesRequest {
  const strippedBefore = facts.thinking.keptAcrossTurns ? 0 : lastPrompt(request.messages)
  const from = lastCompaction(request.messages)
  const isGone = (block: Block, message: number, index: number): boolean =>
    (isThinking(block) &&
      (message < strippedBefore || dropped.has(`messages.${message}.content.${index}`))) ||
    (isBlock(block, 'compaction') && !hasContent(block))
  if (!from && dropped.size === 0 && strippedBefore === 0 && !holdsEmptyCompaction(request.messages))
    return request
  const messages = request.messages.flatMap((message, i): WireMessage[] => {
    if (from && i < from.message) return []
    const start = from && i === from.message ? from.index : 0
    return [keepBlocks(message, (block, j) => j >= start && !isGone(block, i, j))].filter(
      (kept) => kept === message || toBlocks(kept.content).length > 0,
    )
  })
  return { ...request, messages }
}

/** The message with the blocks that pass; the same object if all do. */
export function keepBlocks(
  message: WireMessage,
  keep: (block: Block, index: number) => boolean,
): WireMessage {
  if (typeof message.content === 'string' || message.content === undefined) return message
  const kept = message.content.filter(keep)
  return kept.length === message.content.length ? message : { ...message, content: kept }
}

/** Index of the message that began the current turn: the last user message that is more than tool results. */
export function lastPrompt(messages: readonly WireMessage[]): number {
  return Math.max(
    0,
    messages.findLastIndex(
      ({ role, content }) =>
        role === 'user' && toBlocks(content).some((block) => !isBlock(block, 'tool_result')),
    ),
  )
}

function lastCompaction(
  messages: readonly WireMessage[],
): { readonly message: number; readonly index: number } | undefined {
  for (let i = messages.length - 1; i >= 0; i--) {
    const content = messages[i]?.content
    if (typeof content === 'string' || content === undefined) continue
    const j = content.findLastIndex(hasContent)
    if (j >= 0) return { message: i, index: j }
  }
  return undefined
}

function hasContent(block: Block): boolean {
  return isBlock(block, 'compaction') && typeof block.content === 'string'
}

function holdsEmptyCompaction(messages: readonly WireMessage[]): boolean {
  return messages.some(
    ({ content }) =>
      typeof content === 'object' &&
      content.some((block) => isBlock(block, 'compaction') && !hasContent(block)),
  )
}
