import { isBlock } from '../wire/message.ts'
import type { EntryId } from './entry.ts'
import type { ViewBlock } from './view-block.ts'
import type { ViewNode } from './view.ts'

/**
 * Completes pairs after nodes left: a result whose call is gone goes too; a call whose result is gone is open again. Nodes that need no
 * change stay the same values.
 */
export function pairUp(nodes: readonly ViewNode[]): { nodes: ViewNode[]; open: Map<string, EntryId> } {
  const open = new Map<string, EntryId>()
  const kept: ViewNode[] = []
  const asked = new Set<EntryId>()
  for (const node of nodes) {
    const paired = node.answers === undefined ? node : withoutStrays(node, open)
    const whole = asked.has(node.answers ?? '') ? paired : withoutAnswer(paired)
    if (whole.blocks.length === 0 && node.blocks.length > 0) continue
    kept.push(whole)
    if (node.role === 'assistant') asked.add(node.source.id)
    for (const { block } of node.blocks) if (isBlock(block, 'tool_use')) open.set(block.id, node.source.id)
  }
  return { nodes: kept, open }
}

/** A stand-in for results of an answer that is gone answers nothing. */
function withoutAnswer(node: ViewNode): ViewNode {
  if (node.answers === undefined) return node
  const { answers: _, ...alone } = node
  return alone
}

function withoutStrays(node: ViewNode, open: Map<string, EntryId>): ViewNode {
  const answered = (block: ViewBlock): boolean =>
    !isBlock(block.block, 'tool_result') || open.delete(block.block.tool_use_id)
  const blocks = node.blocks.filter(answered)
  return blocks.length === node.blocks.length ? node : { ...node, blocks }
}
