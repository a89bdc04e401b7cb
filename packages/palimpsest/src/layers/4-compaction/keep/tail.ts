import type { View, ViewNode } from '../../../transcript/view.ts'

// The tail that stays verbatim: the newest whole rounds up to a size, and always what no request has carried yet.

/** What a user typed, as opposed to results, notices and attachments. */
export function isUserNode(node: ViewNode): boolean {
  return node.role === 'user' && node.answers === undefined && node.source.origin === 'user'
}

/**
 * The first node of the tail. A round (an answer and its results) stays or leaves as a whole. The user's own messages do not count: they
 * stay whatever happens. `rawBefore` has the estimated tokens before each node. What the last boundary kept comes before it in the
 * transcript, so no tail begins there.
 */
export function tailStart(view: View, rawBefore: readonly number[], rawMax: number): number {
  const newestAnswer = view.nodes.findLastIndex((node) => node.role === 'assistant')
  const afterBoundary = view.boundary?.nodes ?? 0
  let first = view.nodes.length
  let raw = 0
  for (let i = view.nodes.length - 1; i >= afterBoundary; i--) {
    const node = view.nodes[i]
    if (!node) break
    if (!isUserNode(node)) raw += (rawBefore[i + 1] ?? 0) - (rawBefore[i] ?? 0)
    const startsRound = node.answers === undefined
    if (raw > rawMax && i < newestAnswer) break
    if (startsRound) first = i
  }
  return first
}
