import { factorOf } from '../tokens/calibrate.ts'
import type { EntryId } from '../transcript/entry.ts'
import type { View, ViewNode } from '../transcript/view.ts'
import type { Sizing } from './size-of.ts'

// What stays verbatim in a compaction, and how much room that leaves for the rest.

/** The newest part that stays, of the threshold. */
const TAIL_SHARE = 0.2
/** In a full-size window. */
const TAIL_TOKENS_MIN = 10_000
const TAIL_TOKENS_MAX = 40_000
/** Of what is left beside the kept messages, for files read again. */
const RESTORED_SHARE = 0.5
const RESTORED_TOKENS_MAX = 25_000

export type CompactionSpan =
  | { readonly kind: 'whole' }
  /** The entry and what follows it is summarised; what precedes it stays. */
  | { readonly kind: 'from'; readonly entry: EntryId }
  /** What precedes the entry is summarised. */
  | { readonly kind: 'up_to'; readonly entry: EntryId }

export interface KeepWish extends Sizing {
  readonly span: CompactionSpan
  /** Only the last round stays. */
  readonly harder: boolean
  /** The tail begins here or before: what follows is not in the summary. */
  readonly tailFrom?: number
  readonly scale: number
  readonly prefixTokens: number
  readonly thresholds: { readonly auto: number }
  /** What the conversation may hold afterwards. */
  readonly targetTokens: number
}

export interface KeptPlan {
  readonly keeps: 'tail' | 'head'
  readonly kept: readonly ViewNode[]
  readonly copied: readonly ViewNode[]
  /** What leaves the view. */
  readonly summarised: readonly ViewNode[]
  /** Of kept and copied together. */
  readonly keptTokens: number
  /** Room for files that are read again. */
  readonly restoredTokens: number
  /** Room for the summary with its repairs. */
  readonly summaryTokens: number
}

export function keepFor(view: View, rawBefore: readonly number[], wish: KeepWish): KeptPlan {
  const { keeps, from, to } = rangeOf(view, rawBefore, wish)
  const kept = view.nodes.slice(from, to)
  const summarised = [...view.nodes.slice(0, from), ...view.nodes.slice(to)]
  const factor = factorOf(wish.calibration)
  const keptTokens = factor * ((rawBefore[to] ?? 0) - (rawBefore[from] ?? 0))
  const room = Math.max(0, wish.targetTokens - wish.prefixTokens - keptTokens)
  const restoredTokens = wish.harder ? 0 : Math.min(room * RESTORED_SHARE, RESTORED_TOKENS_MAX * wish.scale)
  return {
    keeps,
    kept,
    copied: [],
    summarised,
    keptTokens,
    restoredTokens,
    summaryTokens: room - restoredTokens,
  }
}

function rangeOf(view: View, rawBefore: readonly number[], wish: KeepWish) {
  const { span, scale, thresholds } = wish
  const end = view.nodes.length
  if (span.kind === 'from') return { keeps: 'head' as const, from: 0, to: indexOf(view, span.entry) ?? end }
  const share = TAIL_SHARE * thresholds.auto
  const tokens = wish.harder ? 0 : Math.min(Math.max(share, TAIL_TOKENS_MIN * scale), TAIL_TOKENS_MAX * scale)
  const start = tailFrom(view, rawBefore, tokens / factorOf(wish.calibration))
  const named = span.kind === 'up_to' ? indexOf(view, span.entry) : undefined
  // Never across a boundary.
  const first = Math.min(named ?? start, wish.tailFrom ?? end)
  return { keeps: 'tail' as const, from: Math.max(first, view.boundary?.nodes ?? 0), to: end }
}

/** The newest rounds up to a size, whole, and always the newest answer with what follows it. */
function tailFrom(view: View, rawBefore: readonly number[], rawMax: number): number {
  const end = rawBefore[view.nodes.length] ?? 0
  const newest = view.nodes.findLastIndex((node) => node.role === 'assistant')
  let first = newest < 0 ? view.nodes.length : newest
  for (let i = first - 1; i >= 0 && end - (rawBefore[i] ?? 0) <= rawMax; i--) {
    if (view.nodes[i]?.answers === undefined) first = i
  }
  return first
}

function indexOf(view: View, entry: EntryId): number | undefined {
  const found = view.nodes.findIndex((node) => node.entries.includes(entry))
  return found < 0 ? undefined : found
}
