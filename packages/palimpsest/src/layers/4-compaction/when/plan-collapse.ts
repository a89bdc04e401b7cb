import { blockKey, type View, type ViewNode } from '../../../transcript/view.ts'
import { isBlock } from '../../../wire/message.ts'
import { isUserNode } from '../keep/tail.ts'

// Collapse: the oldest spans of rounds become short summaries one by one, each in an edit of its own that can be undone.
// What the user said is in no span.

/** Share of the effective window at which folding begins. */
const BEGIN_SHARE = 0.9
/** Share at which it ends: every fold breaks the cache, so a few happen together. */
const END_SHARE = 0.8
/** Share from which new agents are held back. */
const HOLD_SHARE = 0.95
/** Approximate size of a span in a full-size window. */
const SPAN_TOKENS = 10_000
/** How many of the newest rounds stay as they are. */
const ROUNDS_KEPT = 5

export interface CollapseState {
  readonly isFolding: boolean
  /** The window fills faster than it is folded, so no new agent should start to fill it. */
  readonly holdsAgents: boolean
}

export function collapseState(sizeTokens: number, effectiveTokens: number): CollapseState {
  return {
    isFolding: sizeTokens >= BEGIN_SHARE * effectiveTokens,
    holdsAgents: sizeTokens >= HOLD_SHARE * effectiveTokens,
  }
}

/** Tokens that folding must free; 0 below the mark. */
export function excessTokens(sizeTokens: number, effectiveTokens: number): number {
  return collapseState(sizeTokens, effectiveTokens).isFolding ? sizeTokens - END_SHARE * effectiveTokens : 0
}

/** Consecutive answers with their results. */
export type Span = readonly ViewNode[]

/** Oldest first. */
export function findSpans(view: View, tokensOf: (node: ViewNode) => number, scale: number): readonly Span[] {
  const answers = view.nodes.flatMap((node, index) => (node.role === 'assistant' ? [index] : []))
  const end = answers.at(-ROUNDS_KEPT) ?? 0
  const spans: ViewNode[][] = []
  let open: ViewNode[] | undefined
  let tokens = 0
  for (const round of roundsBefore(view, end)) {
    if (!round.every((node) => mayFold(node, view))) {
      open = undefined
      continue
    }
    if (!open || tokens >= SPAN_TOKENS * scale) {
      open = []
      tokens = 0
      spans.push(open)
    }
    open.push(...round)
    tokens += round.reduce((sum, node) => sum + tokensOf(node), 0)
  }
  return spans
}

/** An answer and its results are one round; anything else is a round by itself. */
function roundsBefore({ nodes }: View, end: number): readonly (readonly ViewNode[])[] {
  const rounds: ViewNode[][] = []
  for (const node of nodes.slice(0, end)) {
    if (node.answers === undefined) rounds.push([node])
    else rounds.at(-1)?.push(node)
  }
  return rounds
}

/** Neither written by the user, nor made by a compaction or an earlier fold, nor pinned. */
function mayFold(node: ViewNode, { pinned }: View): boolean {
  if (isUserNode(node) || node.role === 'system' || node.source.part !== undefined) return false
  if (node.blocks.some(({ at }) => pinned.has(blockKey(at)))) return false
  if (node.role === 'assistant') return node.blocks.some(({ original }) => original)
  return node.answers !== undefined && node.blocks.every(({ block }) => isBlock(block, 'tool_result'))
}
