import type { Prompt, PromptPosition } from '../../../ledger/prompt.ts'
import { isJsonObject } from '../../../wire/json.ts'
import { isBlock, toBlocks, type Block } from '../../../wire/message.ts'
import type { MessagesRequest } from '../../../wire/request.ts'

// Cache edits are not a public API: the simulator can declare them as a capability for tests. A `cache_edits` block after the tool
// results of a user message deletes results from the cached prefix without changing it: the hashes stay, the tokens go.

/** The tool results that a block deletes; empty for any other block. */
export function deletedReferences(block: Block): readonly string[] {
  if (block.type !== 'cache_edits' || !('edits' in block) || !Array.isArray(block.edits)) return []
  return block.edits.flatMap((edit: unknown) =>
    isJsonObject(edit) && edit['type'] === 'delete' && typeof edit['cache_reference'] === 'string'
      ? [edit['cache_reference']]
      : [],
  )
}

export interface DeletedTokens {
  readonly prompt: Prompt
  /** Total that the edits of this conversation have removed so far. */
  readonly tokens: number
}

/**
 * The prompt without the deleted results' tokens. An edit takes effect only inside what is read from the cache (`readIndex`), because
 * there is nothing else to edit. So after an expiry the deleted results count again.
 */
export function applyCacheEdits(request: MessagesRequest, prompt: Prompt, readIndex: number): DeletedTokens {
  const paths = deletedPaths(request)
  if (paths.size === 0) return { prompt, tokens: 0 }
  let before = 0
  let deleted = 0
  const positions = prompt.positions.map((position, index): PromptPosition => {
    const own = position.tokens - before
    before = position.tokens
    if (index <= readIndex && paths.has(position.path)) deleted += own
    return deleted === 0 ? position : { ...position, tokens: position.tokens - deleted }
  })
  return { prompt: { ...prompt, positions, tokens: prompt.tokens - deleted }, tokens: deleted }
}

function deletedPaths(request: MessagesRequest): ReadonlySet<string> {
  const references = new Set(
    request.messages.flatMap(({ content }) => toBlocks(content).flatMap(deletedReferences)),
  )
  const paths = new Set<string>()
  if (references.size === 0) return paths
  request.messages.forEach(({ content }, i) => {
    toBlocks(content).forEach((block, j) => {
      if (isBlock(block, 'tool_result') && references.has(block.tool_use_id))
        paths.add(`messages.${i}.content.${j}`)
    })
  })
  return paths
}
