import { chooseKept, type KeptRoom } from '../layers/4-compaction/choose-kept.ts'
import { compactionPolicy, type CompactionPolicy } from '../layers/4-compaction/policy.ts'
import { quoteLines } from '../layers/4-compaction/quote-lines.ts'
import { factorOf } from '../tokens/calibrate.ts'
import type { EntryId } from '../transcript/entry.ts'
import type { View, ViewNode } from '../transcript/view.ts'
import type { Sizing } from './size-of.ts'

// What stays verbatim in a compaction, and how much room that leaves for the rest.

/** Of what is left beside the kept messages, for files read again. */
const RESTORED_SHARE = 0.5
const RESTORED_TOKENS_MAX = 25_000
/** Of code, about. */
const QUOTED_CHARS_PER_TOKEN = 3.2

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
  /** Nothing older than the newest answer stays: the summary covers all before it, and nothing may stand between. */
  readonly newestOnly?: boolean
  /** The tail begins here or before: what follows is not in the summary. */
  readonly tailFrom?: number
  readonly scale: number
  readonly prefixTokens: number
  readonly thresholds: { readonly auto: number }
  /** What the conversation may hold afterwards. */
  readonly targetTokens: number
  /** How much stays, and of what. Left out: as learned. */
  readonly policy?: CompactionPolicy
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
  /** Of that, for a summary that no model wrote: what it has to say is known, and more is not better. */
  readonly foldTokens: number
  /** Lines of what leaves, word for word; '' where there are none. */
  readonly quotes: string
}

export function keepFor(view: View, rawBefore: readonly number[], wish: KeepWish): KeptPlan {
  const factor = factorOf(wish.calibration)
  const room: KeptRoom = {
    autoTokens: wish.thresholds.auto,
    prefixTokens: wish.prefixTokens,
    toTokens: (raw) => raw * factor,
    rawBefore,
  }
  const policy = wish.policy ?? compactionPolicy(wish.scale)
  const isBare = wish.harder || wish.newestOnly === true
  const choice = chooseKept(view, room, isBare ? { ...policy, keptShare: 0, userShare: 0 } : policy)
  const { keeps, from, to } = rangeOf(view, choice.tailFrom, wish)
  const isWhole = wish.span.kind === 'whole'
  const copied = isWhole && !wish.newestOnly ? choice.copied.filter((index) => index < from) : []
  const stays = new Set([...copied, ...indexes(from, to)])
  const gone = indexes(0, view.nodes.length).filter((index) => !stays.has(index))
  const rawOf = (index: number): number => (rawBefore[index + 1] ?? 0) - (rawBefore[index] ?? 0)
  const keptTokens = factor * [...stays].reduce((sum, index) => sum + rawOf(index), 0)
  const left = Math.max(0, wish.targetTokens - wish.prefixTokens - keptTokens)
  const restoredTokens = wish.harder ? 0 : Math.min(left * RESTORED_SHARE, RESTORED_TOKENS_MAX * wish.scale)
  const charsMax = isWhole && !wish.harder ? choice.quotedTokens * QUOTED_CHARS_PER_TOKEN : 0
  return {
    keeps,
    kept: view.nodes.slice(from, to),
    copied: nodesAt(view, copied),
    summarised: nodesAt(view, gone),
    keptTokens,
    restoredTokens,
    summaryTokens: Math.max(left - restoredTokens, choice.summaryTokens),
    foldTokens: choice.summaryTokens,
    quotes: quoteLines(view, gone, [...stays], { ...room, charsMax }),
  }
}

function indexes(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i)
}

function nodesAt({ nodes }: View, wanted: readonly number[]): ViewNode[] {
  return wanted.flatMap((index) => nodes[index] ?? [])
}

function rangeOf(view: View, start: number, { span, tailFrom }: KeepWish) {
  const end = view.nodes.length
  if (span.kind === 'from') return { keeps: 'head' as const, from: 0, to: indexOf(view, span.entry) ?? end }
  const named = span.kind === 'up_to' ? indexOf(view, span.entry) : undefined
  // Never across a boundary.
  const first = Math.min(named ?? start, tailFrom ?? end)
  return { keeps: 'tail' as const, from: Math.max(first, view.boundary?.nodes ?? 0), to: end }
}

function indexOf(view: View, entry: EntryId): number | undefined {
  const found = view.nodes.findIndex((node) => node.entries.includes(entry))
  return found < 0 ? undefined : found
}
