import type { Spent } from 'palimpsest/conversation'
import { createCostOf } from 'palimpsest/ledger'
import { servedTokens } from 'palimpsest/wire'

/** What one agent has cost so far, for display. */
export function createBill(): {
  readonly add: (spent: Spent) => void
  readonly spent: () => { readonly tokens: number; readonly costUsd: number }
} {
  const costOf = createCostOf()
  let [tokens, costUsd] = [0, 0]
  return {
    add: (spent) => {
      const { uncached, written, output } = servedTokens(spent.usage)
      tokens += uncached + written + output
      costUsd += costOf(spent)
    },
    spent: () => ({ tokens, costUsd }),
  }
}
