import { costOfUsage } from 'palimpsest/ledger'
import type { MessageEntry, SpentEntry } from 'palimpsest/transcript'
import { findModelFacts } from 'palimpsest/wire'

/** Costs of entries that come one by one. Lines of one response each repeat its usage: it is paid for once, by the newest. */
export function createCostOf(): (entry: MessageEntry | SpentEntry) => number {
  const paid = new Map<string, number>()
  return (entry) => {
    const cost = costOf(entry)
    if (entry.kind === 'spent') return cost
    if (entry.responseId === undefined || !entry.usage) return cost
    const before = paid.get(entry.responseId) ?? 0
    paid.set(entry.responseId, cost)
    return cost - before
  }
}

/** US dollars for one answer, by its reported usage; 0 where the model has no known price. */
function costOf({ usage, model }: Pick<MessageEntry, 'usage' | 'model'>): number {
  const facts = usage && model !== undefined ? findModelFacts(model) : undefined
  if (!usage || !facts) return 0
  return costOfUsage(usage, facts.prices)
}
