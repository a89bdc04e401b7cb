import type { View } from './view.ts'

/** How far a list of nodes was examined, and how many of its changes were known then. */
export interface NodesMark {
  readonly nodes: number
  readonly changes: number
}

export function markNodes({ nodes, changes }: Pick<View, 'nodes' | 'changes'>): NodesMark {
  return { nodes: nodes.length, changes: changes.length }
}

/**
 * How many nodes at the beginning of the list are the same as at the mark. The cost depends on the changes since: comparing the nodes
 * themselves would cost the length of the conversation before every request.
 */
export function unchangedSince({ changes }: Pick<View, 'changes'>, mark: NodesMark): number {
  let first = mark.nodes
  for (let i = mark.changes; i < changes.length; i++) first = Math.min(first, changes[i] ?? 0)
  return first
}
