import { costOfUsage, priceOf } from '../ledger/prices.ts'
import type { Entry } from '../transcript/entry.ts'
import { isBeside } from '../transcript/totals.ts'
import { findModelFacts, unknownModelFacts, type ModelFacts } from '../wire/model-facts.ts'
import type { MessagesResponse } from '../wire/response.ts'
import type { Usage } from '../wire/usage.ts'

// What the conversation cost, by source; and whether calls that nobody waits for may add to it.

/** Share of the project's whole bill, for all background calls together. */
export const BACKGROUND_SHARE_MAX = 0.1
/** Allowed in every session, whatever the share of its bill: otherwise a short session would never save anything. */
export const BACKGROUND_ALLOWANCE_USD = 0.05
/** Approximate most output of a fork, in tokens, until one has written. */
const OUTPUT_TOKENS = 2_500
/** Share of the conversation: there is less to say about a short one. */
const OUTPUT_SHARE = 0.1

/** The conversation's own answers. */
const CONVERSATION = 'main'

export type Bill = ReadonlyMap<string, number>

interface Gathered {
  readonly usd: Map<string, number>
  /** Lines of one response repeat its usage, which is paid once. */
  readonly paid: Map<string, number>
  /** Output tokens of the newest background call. */
  newest: number | undefined
  count: number
}

const gatheredByLog = new WeakMap<readonly Entry[], Gathered>()

/** US dollars by source. Asking again costs only what was appended since. */
export function billOf(log: readonly Entry[]): Bill {
  return gather(log).usd
}

function gather(log: readonly Entry[]): Gathered {
  const known = gatheredByLog.get(log) ?? { usd: new Map(), paid: new Map(), newest: undefined, count: 0 }
  gatheredByLog.set(log, known)
  for (; known.count < log.length; known.count++) {
    const entry = log[known.count]
    if (entry) addTo(known, entry)
  }
  return known
}

/** What was spent so far, and how much the last background call wrote. */
export interface BesideSpending extends BesideSums {
  readonly outputTokens?: number | undefined
  /** What the project's other sessions spent recently; undefined if nobody keeps account of them. */
  readonly elsewhere?: BesideSums | undefined
}

/** US dollars: everything, and of that the calls that nobody waited for. */
export interface BesideSums {
  readonly totalUsd: number
  readonly besideUsd: number
}

/** From the log. For a session that is loaded from a boundary on, the sums in its file say more. */
export function besideSpending(log: readonly Entry[]): BesideSpending {
  const { usd, newest } = gather(log)
  const sum = (isCounted: (source: string) => boolean): number =>
    [...usd].reduce((total, [source, cost]) => (isCounted(source) ? total + cost : total), 0)
  return { totalUsd: sum(() => true), besideUsd: sum(isBeside), outputTokens: newest }
}

/**
 * Whether one more call on a conversation of this size leaves all of them within their share of the project's bill, or within what every
 * session is allowed, if it costs what we expect: as much as the previous one wrote. One that costs more is on the bill, and the next one
 * waits longer. `responses`: those of the running call, which are on no bill yet.
 */
export function mayCallBeside(
  { totalUsd, besideUsd, outputTokens, elsewhere }: BesideSpending,
  facts: ModelFacts,
  sizeTokens: number,
  responses: readonly Pick<MessagesResponse, 'model' | 'usage'>[] = [],
): boolean {
  const unbilled = responses.reduce((usd, { model, usage }) => usd + costOf(usage, model), 0)
  const more = unbilled + nextUsd(outputTokens, facts, sizeTokens)
  if (besideUsd + more <= BACKGROUND_ALLOWANCE_USD) return true
  const others = elsewhere ?? { totalUsd: 0, besideUsd: 0 }
  return besideUsd + others.besideUsd + more <= BACKGROUND_SHARE_MAX * (totalUsd + others.totalUsd + more)
}

function nextUsd(outputTokens: number | undefined, facts: ModelFacts, sizeTokens: number): number {
  const output = outputTokens ?? Math.min(OUTPUT_TOKENS, OUTPUT_SHARE * sizeTokens)
  return priceOf({ read: sizeTokens, written5m: 0, written1h: 0, uncached: 0, output }, facts.prices)
}

function addTo(gathered: Gathered, entry: Entry): void {
  const { usd, paid } = gathered
  if (entry.kind === 'spent') {
    if (isBeside(entry.source)) gathered.newest = entry.usage.output_tokens
    return add(usd, entry.source, costOf(entry.usage, entry.model))
  }
  if (entry.kind !== 'message' || !entry.usage) return
  const cost = costOf(entry.usage, entry.model ?? '')
  const before = paid.get(entry.responseId ?? entry.id) ?? 0
  paid.set(entry.responseId ?? entry.id, cost)
  add(usd, CONVERSATION, cost - before)
}

function add(usd: Map<string, number>, source: string, cost: number): void {
  usd.set(source, (usd.get(source) ?? 0) + cost)
}

function costOf(usage: Usage, model: string): number {
  return costOfUsage(usage, (findModelFacts(model) ?? unknownModelFacts(model)).prices)
}
