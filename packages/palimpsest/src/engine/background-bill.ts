import { costOfUsage, priceOf } from '../ledger/prices.ts'
import type { Entry } from '../transcript/entry.ts'
import { findModelFacts, unknownModelFacts, type ModelFacts } from '../wire/model-facts.ts'
import type { Usage } from '../wire/usage.ts'

// What the conversation cost, by who asked; and whether calls that nobody waits for may add to it.

/** Of the whole bill, for all calls beside the conversation together. */
export const BACKGROUND_SHARE_MAX = 0.1
/** What a fork writes, about, where nothing more is known. */
const OUTPUT_TOKENS = 2_500

/** The conversation's own answers. */
const CONVERSATION = 'main'
/** Somebody waits for these: they are no background. */
const AWAITED: ReadonlySet<string> = new Set([CONVERSATION, 'compact'])

export type Bill = ReadonlyMap<string, number>

interface Gathered {
  readonly usd: Map<string, number>
  /** Lines of one response repeat its usage: it is paid for once. */
  readonly paid: Map<string, number>
  /** The most that a call beside the conversation wrote. */
  longest: number
  count: number
}

const gatheredByLog = new WeakMap<readonly Entry[], Gathered>()

/** US dollars by source. Asking again costs what was appended since. */
export function billOf(log: readonly Entry[]): Bill {
  return gather(log).usd
}

function gather(log: readonly Entry[]): Gathered {
  const known = gatheredByLog.get(log) ?? { usd: new Map(), paid: new Map(), longest: 0, count: 0 }
  gatheredByLog.set(log, known)
  for (; known.count < log.length; known.count++) {
    const entry = log[known.count]
    if (entry) addTo(known, entry)
  }
  return known
}

/**
 * Whether one more call on the back of a conversation of this size leaves all of them within their share, should it write as much as it
 * may, or as much as the longest before it.
 */
export function mayCallBeside(
  log: readonly Entry[],
  facts: ModelFacts,
  sizeTokens: number,
  outputTokens: number = OUTPUT_TOKENS,
): boolean {
  const { usd: bill, longest } = gather(log)
  const sum = (isCounted: (source: string) => boolean): number =>
    [...bill].reduce((usd, [source, cost]) => (isCounted(source) ? usd + cost : usd), 0)
  const next = priceOf(
    { read: sizeTokens, written5m: 0, written1h: 0, uncached: 0, output: Math.max(outputTokens, longest) },
    facts.prices,
  )
  const beside = sum((source) => !AWAITED.has(source))
  return beside + next <= BACKGROUND_SHARE_MAX * (sum(() => true) + next)
}

function addTo(gathered: Gathered, entry: Entry): void {
  const { usd, paid } = gathered
  if (entry.kind === 'spent') {
    if (!AWAITED.has(entry.source)) gathered.longest = Math.max(gathered.longest, entry.usage.output_tokens)
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
