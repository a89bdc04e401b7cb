import { findModelFacts } from '../wire/model-facts.ts'
import type { Usage } from '../wire/usage.ts'
import { costOfUsage } from './prices.ts'

/** What matters about an entry: what an answer used, and which answer it was. */
export interface PaidAnswer {
  readonly kind: string
  readonly usage?: Usage
  readonly model?: string
  readonly responseId?: string
}

/** Returns a function that prices entries one by one. Lines of the same response repeat its usage, which is charged once, by the newest. */
export function createCostOf(): (entry: PaidAnswer) => number {
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

/** US dollars for one answer, by its reported usage; 0 if the model has no known price. */
function costOf({ usage, model }: PaidAnswer): number {
  const facts = usage && model !== undefined ? findModelFacts(model) : undefined
  if (!usage || !facts) return 0
  return costOfUsage(usage, facts.prices)
}
