import { costOfUsage } from 'palimpsest/ledger'
import type { Entry } from 'palimpsest/transcript'
import { findModelFacts } from 'palimpsest/wire'

import type { Figures } from '../screen/status-line.ts'

/** The longest time that a provider keeps a prompt. */
const IDLE_MS = 3_600_000
/** Smallest conversation, in tokens, for which compacting first is worth asking about. */
const WORTH_TOKENS = 20_000

/** Cost in US dollars of the next request if nothing is cached any more; undefined if there is no need to ask. */
export function coldCost(
  log: readonly Entry[],
  { used }: Pick<Figures, 'used'>,
  model: string,
  now: number,
): number | undefined {
  const last = log.findLast((entry) => entry.kind === 'message')
  const prices = findModelFacts(model)?.prices
  if (!last || !prices || used < WORTH_TOKENS || !(now - last.at >= IDLE_MS)) return undefined
  const usage = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: used }
  const cost = costOfUsage(usage, prices)
  return cost > 0 ? cost : undefined
}
