import type { CacheCharge } from '../ledger/cache.ts'
import { findTier } from '../ledger/prices.ts'
import type { EntryId } from '../transcript/entry.ts'
import type { Settled } from '../transcript/settle.ts'
import type { View } from '../transcript/view.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import { contextUsage, promptTokens, type Usage } from '../wire/usage.ts'

// What an edit or a compaction came to, once the request after it was billed: tokens removed, and tokens written again that would have been
// read. Expected is what the ledger said before, realized what the usage says.

const PRICE_TOKENS = 1_000_000

export interface EditEffect {
  /** Edits and boundaries between the two requests: they share one rewrite. */
  readonly ids: readonly EntryId[]
  /** By how much the prompt is smaller than it would be. */
  readonly freedTokens: number
  readonly expectedRewriteTokens: number
  readonly realisedRewriteTokens: number
  /** What the rewrite costs beyond reading. 0 if the cache had expired: then everything would have been written anyway. */
  readonly expectedUsd: number
  readonly realisedUsd: number
  readonly wasCold: boolean
}

export function editEffect(input: {
  readonly edits: readonly EntryId[]
  /** Entries added since the previous request. */
  readonly fresh: ReadonlySet<EntryId>
  readonly view: View
  readonly settled: Settled
  readonly facts: ModelFacts
  readonly toTokens: (raw: number) => number
  readonly charge: CacheCharge
  readonly usage: Usage
  readonly wasAlive: boolean
  readonly inputTokensBefore: number
}): EditEffect | undefined {
  const { edits, usage, charge, facts, wasAlive } = input
  if (edits.length === 0) return undefined
  const newTokens = input.toTokens(newRaw(input))
  const inputTokens = promptTokens(usage)
  const { cache_creation_input_tokens: written, input_tokens: uncached } = contextUsage(usage)
  const expected = charge.written5m + charge.written1h + charge.uncached - newTokens
  const realised = (written ?? 0) + uncached - newTokens
  const tier = findTier(facts.prices, inputTokens)
  const extra = !tier || !wasAlive ? 0 : (writePrice(charge, tier) - tier.read) / PRICE_TOKENS
  const expectedRewriteTokens = Math.max(0, Math.round(expected))
  const realisedRewriteTokens = Math.max(0, Math.round(realised))
  return {
    ids: edits,
    freedTokens: Math.max(0, Math.round(input.inputTokensBefore + newTokens - inputTokens)),
    expectedRewriteTokens,
    realisedRewriteTokens,
    expectedUsd: expectedRewriteTokens * extra,
    realisedUsd: realisedRewriteTokens * extra,
    wasCold: !wasAlive,
  }
}

function writePrice(
  { written5m, written1h }: CacheCharge,
  { write5m, write1h }: { readonly write5m: number; readonly write1h: number },
): number {
  return written1h > written5m ? write1h : write5m
}

/** What is at the end and was not in the previous request. */
function newRaw({
  view,
  settled,
  fresh,
}: {
  readonly view: View
  readonly settled: Settled
  readonly fresh: ReadonlySet<EntryId>
}): number {
  let node = view.nodes.length
  while (node > 0 && fresh.has(view.nodes[node - 1]?.source.id ?? '')) node--
  return (settled.tokens[view.nodes.length] ?? 0) - (settled.tokens[node] ?? 0)
}
