import type { ViewNode } from '../../transcript/view.ts'

/** How many nodes at the beginning are those that were looked at before. A node that changes is a new one. */
export function sameNodes(looked: readonly ViewNode[], nodes: readonly ViewNode[]): number {
  const end = Math.min(looked.length, nodes.length)
  let at = 0
  while (at < end && looked[at] === nodes[at]) at++
  return at
}
