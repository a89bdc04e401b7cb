import { isThinking } from '../wire/message.ts'
import { isBlank } from './view-block.ts'
import type { ViewNode } from './view.ts'

// A system message may only come after a user message, and before an answer or at the end. A user message that arrives while one is at the
// end goes before it; if messages left the view, the rest is put back into that order.

/** Where a user message goes: before the system messages that no answer has followed yet. */
export function placeOfUser(nodes: readonly ViewNode[]): number {
  let place = nodes.length
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i]
    if (!node || (node.role === 'assistant' && !isSilent(node))) break
    if (node.role === 'system') place = i
  }
  return place
}

/** Between two answers: user messages first, then system messages. Returns the same list if nothing moves. */
export function placeSystem(nodes: readonly ViewNode[]): readonly ViewNode[] {
  if (!nodes.some((node) => node.role === 'system')) return nodes
  const placed: ViewNode[] = []
  for (const node of nodes) {
    if (node.role === 'user') placed.splice(placeOfUser(placed), 0, node)
    else placed.push(node)
  }
  return placed
}

/** An answer of which nothing is ever sent. */
export function isSilent(node: ViewNode): boolean {
  return node.blocks.every(({ block }) => isThinking(block) || isBlank(block))
}
