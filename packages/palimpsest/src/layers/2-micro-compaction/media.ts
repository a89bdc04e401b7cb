import type { BlockRef } from '../../transcript/entry.ts'
import { blockKey, type View } from '../../transcript/view.ts'
import { isBlock, type Block } from '../../wire/message.ts'

// A request also has a limit in bytes; images can reach it while the tokens look fine. The oldest media become markers.

/** What the API accepts. */
export const REQUEST_BYTES_MAX = 32 * 1024 * 1024
const SHARE_MAX = 0.8
/** What an edit leaves: at the limit itself, every further image would cost another rewrite. */
const SHARE_AFTER = 0.6

export interface MediaPlan {
  readonly replace: readonly { readonly at: BlockRef; readonly with: readonly string[] }[]
  readonly firstNode: number
}

/** `bytes` is the current size of the request. Media after the newest answer stay: the model has not seen them yet. */
export function planMedia(view: View, bytes: number): MediaPlan | undefined {
  if (bytes <= SHARE_MAX * REQUEST_BYTES_MAX) return undefined
  let over = bytes - SHARE_AFTER * REQUEST_BYTES_MAX
  const newestAnswer = view.nodes.findLastIndex((node) => node.role === 'assistant')
  const replace: { at: BlockRef; with: string[] }[] = []
  let firstNode = view.nodes.length
  for (const [i, node] of view.nodes.slice(0, Math.max(0, newestAnswer)).entries()) {
    for (const { block, at, json } of node.blocks) {
      if (over <= 0) break
      const marked = withMarkers(block)
      if (!marked || view.pinned.has(blockKey(at))) continue
      const text = JSON.stringify(marked)
      replace.push({ at, with: [text] })
      over -= json.length - text.length
      firstNode = Math.min(firstNode, i)
    }
  }
  return replace.length > 0 ? { replace, firstNode } : undefined
}

/** The block with markers in place of its media; undefined if it has none. */
function withMarkers(block: Block): Block | undefined {
  if (block.type === 'image') return { type: 'text', text: '[image]' }
  if (block.type === 'document') return { type: 'text', text: '[document]' }
  if (!isBlock(block, 'tool_result') || typeof block.content === 'string' || !block.content) return undefined
  if (!block.content.some((inner) => withMarkers(inner))) return undefined
  return { ...block, content: block.content.map((inner) => withMarkers(inner) ?? inner) }
}
