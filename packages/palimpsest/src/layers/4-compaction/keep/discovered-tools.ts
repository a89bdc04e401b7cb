import type { View } from '../../../transcript/view.ts'
import { findMember, isJsonObject, splitArray } from '../../../wire/json.ts'
import { isBlock, toBlocks, type Block } from '../../../wire/message.ts'

/**
 * Names of tools that were not in the prompt and that the conversation found or called, with those that the previous boundary lists.
 * After a compaction nothing else says that they exist.
 */
export function discoveredTools({ nodes, prefix, boundary }: View): readonly string[] {
  const deferred = new Set(
    splitArray(prefix?.tools ?? '[]').flatMap((tool) =>
      findMember(tool, 'defer_loading') === 'true' ? [nameOf(tool)] : [],
    ),
  )
  const blocks = nodes.flatMap((node) => node.blocks.map(({ block }) => block))
  const called = blocks.flatMap((block) =>
    isBlock(block, 'tool_use') && deferred.has(block.name) ? [block.name] : [],
  )
  const before = boundary?.entry.meta.discoveredTools ?? []
  return [...new Set([...before, ...blocks.flatMap(referencesIn), ...called])].toSorted()
}

function nameOf(tool: string): string {
  const name: unknown = JSON.parse(findMember(tool, 'name') ?? '""')
  return typeof name === 'string' ? name : ''
}

/** In a result of ours, or of a search that the provider ran. */
function referencesIn(block: Block): readonly string[] {
  if (isBlock(block, 'tool_result'))
    return toBlocks(block.content).flatMap((inner) => referenceOf(inner.type, inner))
  const content: unknown =
    block.type === 'tool_search_tool_result' && 'content' in block ? block.content : null
  const found: unknown = isJsonObject(content) ? content['tool_references'] : undefined
  return Array.isArray(found)
    ? found.flatMap((one: unknown) => (isJsonObject(one) ? referenceOf('tool_reference', one) : []))
    : []
}

function referenceOf(type: string, block: object): readonly string[] {
  const name = type === 'tool_reference' && 'tool_name' in block ? block.tool_name : undefined
  return typeof name === 'string' ? [name] : []
}
