import { factorOf, type Calibration } from '../tokens/calibrate.ts'
import { countSince } from '../tokens/count.ts'
import { estimateText } from '../tokens/estimate.ts'
import type { PrefixEntry } from '../transcript/entry.ts'
import { settle, tokensEnd, type Settled, type ThinkingPolicy } from '../transcript/settle.ts'
import type { View, ViewNode } from '../transcript/view.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'

// How large the next request will be: usage at the newest answer, less what left since, plus what came since. The view's running
// sums make it a subtraction, whatever the layers did in between.

export interface Sizing {
  readonly thinking: ThinkingPolicy
  readonly calibration: Calibration
}

export function sizeOf(view: View, sizing: Sizing): number {
  const settled = settle(view, sizing.thinking)
  const anchor = findAnchorNode(view)
  if (!anchor || isStale(anchor, settled, sizing))
    return Math.ceil(factorOf(sizing.calibration) * (prefixEstimate(view) + tokensEnd(settled)))
  const before = settled.tokens[anchor.index] ?? 0
  const behind = settled.tokens[anchor.index + 1] ?? before
  const since = {
    answerRaw: behind - before,
    addedRaw: tokensEnd(settled) - behind,
    removedRaw: sentBefore(anchor.node, settled, anchor.index) - before,
  }
  return countSince(anchor.usage, since, sizing.calibration)
}

const prefixEstimates = new WeakMap<PrefixEntry, number>()

/** Estimated tokens of what stands before the messages. An entry never changes, so it is looked at once. */
function prefixEstimate({ prefix }: View): number {
  if (!prefix) return 0
  const known = prefixEstimates.get(prefix) ?? estimateText(prefix.system) + estimateText(prefix.tools)
  prefixEstimates.set(prefix, known)
  return known
}

interface AnchorNode {
  readonly index: number
  readonly node: ViewNode
  readonly usage: Usage
}

/** The newest answer with a usage. Lines of one answer are one node already, so its results come after it. */
function findAnchorNode(view: View): AnchorNode | undefined {
  for (let index = view.nodes.length - 1; index >= 0; index--) {
    const node = view.nodes[index]
    const usage = node?.source.usage
    if (node && usage && promptTokens(usage) > 0) return { index, node, usage }
  }
  return undefined
}

/** Much went since another model counted: what is left of its figure is mostly the difference between the two. */
function isStale({ node, index }: AnchorNode, { chains }: Settled, { thinking }: Sizing): boolean {
  const { model, under, sentEstimate } = node.source
  return model !== thinking.model && sentEstimate !== undefined && under !== chains[index]
}

/**
 * What the answer's request had carried. The same bytes stand before it still, or the estimate made then counts: it may be another
 * edition's, but it knows what is gone.
 */
function sentBefore({ source }: ViewNode, settled: Settled, index: number): number {
  const now = settled.tokens[index] ?? 0
  return source.under === settled.chains[index] ? now : (source.sentEstimate ?? now)
}
