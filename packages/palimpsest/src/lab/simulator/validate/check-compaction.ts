import { isBlock, toBlocks, type Block } from '../../../wire/message.ts'
import type { MessagesRequest } from '../../../wire/request.ts'
import { refuse, type Refusal } from '../refusal.ts'

// On-demand compaction: where a signed block may be, and what can be compacted.

/** A signed block must be the first of the conversation and the only one with content. */
export function checkCompaction(request: MessagesRequest, counting: boolean): Refusal | undefined {
  const found: { readonly path: string; readonly isFirst: boolean; readonly isSystem: boolean }[] = []
  let signed = 0
  request.messages.forEach(({ role, content }, i) => {
    if (typeof content === 'string') return
    toBlocks(content).forEach((block, j) => {
      if (!isBlock(block, 'compaction') || typeof block.content !== 'string') return
      if (block.signature) signed++
      found.push({
        path: `messages.${i}.content.${j}`,
        isFirst: i === 0 && j === 0,
        isSystem: role === 'system',
      })
    })
  })
  const inSystem = found.find(({ isSystem }) => isSystem)
  if (inSystem) return refuse('compaction.misplaced', { path: inSystem.path })
  if (signed > 0) {
    if (found.length > 1) return refuse('compaction.ambiguous')
    const misplaced = found.find(({ isFirst }) => !isFirst)
    if (misplaced) return refuse('compaction.misplaced', { path: misplaced.path })
  }
  return request.compaction && !counting ? checkCompactable(request) : undefined
}

function checkCompactable(request: MessagesRequest): Refusal | undefined {
  const hasSomething = request.messages.some(
    ({ role, content }) =>
      role !== 'system' && toBlocks(content).some((block) => !isBlock(block, 'compaction')),
  )
  if (!hasSomething) return refuse('compaction.nothing')
  const last = request.messages.at(-1)
  const end = last?.role === 'assistant' ? toBlocks(last.content).at(-1) : undefined
  return end && isUnfinished(end) ? refuse('compaction.incomplete') : undefined
}

function isUnfinished(block: Block): boolean {
  return isBlock(block, 'tool_use') || isBlock(block, 'server_tool_use') || isBlock(block, 'mcp_tool_use')
}
