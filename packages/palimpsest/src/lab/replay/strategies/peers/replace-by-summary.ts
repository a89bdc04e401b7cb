import { foldInto } from '../../../../layers/4-compaction/summary/fold-into.ts'
import { estimateText } from '../../../../tokens/estimate.ts'
import type { Entry } from '../../../../transcript/entry.ts'
import type { View, ViewNode } from '../../../../transcript/view.ts'
import { isBlock } from '../../../../wire/message.ts'
import { resultText } from '../clear.ts'
import type { Round } from '../round.ts'
import type { Actions, BackgroundCall, StrategySettings } from '../strategy.ts'
import type { PeerSight } from './peer-sight.ts'

/** How a tool asks a model for its summary. */
export type SummaryCall =
  /** After the conversation as it is: this reads the cache. */
  | { readonly kind: 'fork' }
  /** A separate request with what leaves, as text: this reads nothing from the cache. */
  | {
      readonly kind: 'alone'
      /** Longer tool results are cut to this many characters. */
      readonly resultCharsMax?: number
      /** Only the newest of what leaves is shown, up to this many tokens. */
      readonly tokensMax?: number
      /** A second request checks the first one's summary. */
      readonly isChecked?: boolean
    }

/** The median of 83 recorded summaries was 11,953 characters: about 5,000 tokens of names and paths. Smaller windows scale it down. */
const SUMMARY_TOKENS = 5_000
/** The limit is in characters, four per token: 12,000. */
const FOLD_TOKENS = 3_000

/** Size of the instruction for a summary. */
const PROMPT_TOKENS = 1_200

/** Most tokens that the summary may have. */
export function summaryTokens({ scale }: StrategySettings): number {
  return SUMMARY_TOKENS * scale
}

/** Replaces all rounds except the kept ones with a summary. Undefined if nothing would leave. */
export function replaceBySummary(
  { view, rounds, moment, settings }: PeerSight,
  keptRounds: ReadonlySet<number>,
  call: SummaryCall,
): Actions | undefined {
  const { kept, copied, gone } = split(view, rounds, keptRounds)
  if (gone.length === 0) return undefined
  const plan = {
    span: 'whole',
    keeps: 'tail',
    kept,
    copied,
    summarised: gone,
    keptTokens: moment.toTokens(rawOf([...copied, ...kept])),
    restoredTokens: 0,
    summaryTokens: summaryTokens(settings),
    foldTokens: FOLD_TOKENS * settings.scale,
    quotes: '',
    gaps: new Map(),
    fits: true,
  } as const
  const bodies = foldInto(
    view,
    plan,
    {
      calibration: { start: moment.toTokens(1), samples: [] },
      prefixTokens: moment.hiddenTokens,
      sizeTokens: moment.sizeTokens,
    },
    settings.newId,
  )
  const entries = bodies.map((body): Entry => ({
    ...body,
    id: body.id ?? settings.newId(),
    parent: null,
    at: moment.now,
  }))
  const outputTokens = Math.round(moment.toTokens(writtenRaw(entries)))
  return { entries, calls: callsFor(call, gone, outputTokens, moment.toTokens) }
}

function rawOf(nodes: readonly ViewNode[]): number {
  return nodes.flatMap((node) => node.blocks).reduce((sum, block) => sum + block.tokens, 0)
}

function writtenRaw(entries: readonly Entry[]): number {
  return entries.reduce(
    (sum, entry) =>
      sum + (entry.kind === 'message' && entry.part === 'summary' ? estimateText(entry.json) : 0),
    0,
  )
}

interface Split {
  /** The unbroken run of rounds up to the end. */
  readonly kept: readonly ViewNode[]
  /** Older rounds that stay. */
  readonly copied: readonly ViewNode[]
  readonly gone: readonly ViewNode[]
}

/** An earlier summary always leaves, but alone is no reason to compact. What its compaction kept cannot be in the tail, so it is copied. */
function split(view: View, rounds: readonly Round[], keptRounds: ReadonlySet<number>): Split {
  const nodesOf = ({ from, end }: Round): readonly ViewNode[] => view.nodes.slice(from, end)
  const isMade = ({ from }: Round): boolean => view.nodes[from]?.source.part === 'summary'
  const stays = rounds.map((round, index) => keptRounds.has(index) && !isMade(round))
  const afterBoundary = view.boundary?.nodes ?? 0
  let tail = rounds.length
  while (stays[tail - 1] && (rounds[tail - 1]?.from ?? 0) >= afterBoundary) tail--
  return {
    kept: rounds.slice(tail).flatMap(nodesOf),
    copied: rounds.slice(0, tail).flatMap((round, index) => (stays[index] ? nodesOf(round) : [])),
    gone: rounds.flatMap((round, index) => (stays[index] || isMade(round) ? [] : nodesOf(round))),
  }
}

function callsFor(
  call: SummaryCall,
  gone: readonly ViewNode[],
  outputTokens: number,
  toTokens: (raw: number) => number,
): readonly BackgroundCall[] {
  const layer = 'compaction'
  if (call.kind === 'fork') return [{ layer, promptTokens: PROMPT_TOKENS, outputTokens }]
  const shown = Math.min(
    toTokens(shownRaw(gone, call.resultCharsMax ?? Infinity)),
    call.tokensMax ?? Infinity,
  )
  const promptTokens = Math.round(PROMPT_TOKENS + shown)
  const made = { layer, alone: true, promptTokens, outputTokens }
  return call.isChecked ? [made, { ...made, promptTokens: promptTokens + outputTokens }] : [made]
}

function shownRaw(nodes: readonly ViewNode[], resultCharsMax: number): number {
  let raw = 0
  for (const { block, tokens } of nodes.flatMap((node) => node.blocks)) {
    const chars = isBlock(block, 'tool_result') ? resultText(block).length : 0
    raw += chars > resultCharsMax ? (tokens * resultCharsMax) / chars : tokens
  }
  return raw
}
