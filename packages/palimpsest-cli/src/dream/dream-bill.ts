import type { EntryBody } from 'palimpsest/engine'
import { createCostOf } from 'palimpsest/ledger'
import type { LoopEvent, MeteredModel } from 'palimpsest/loop'
import type { SpentEntry } from 'palimpsest/transcript'

/** What the dreams of a session cost, until it is on the session's own bill. */
export interface DreamBill {
  readonly see: (event: LoopEvent) => void
  /** US dollars that no entry of the session records yet. */
  readonly waitingUsd: () => number
  /** The session's meter, with this bill added. */
  readonly onto: (metered: MeteredModel) => MeteredModel
}

/** Counts complete answers only: the session's meter sees every request, and records answers that were broken off. */
export function createDreamBill(): DreamBill {
  let waiting: readonly EntryBody<SpentEntry>[] = []
  const costOf = createCostOf()
  return {
    see: (event) => {
      if (event.type !== 'message' || !event.entry.usage) return
      const { model = '', usage } = event.entry
      waiting = [...waiting, { kind: 'spent', source: 'dream', model, usage }]
    },
    waitingUsd: () => waiting.reduce((sum, spent) => sum + costOf(spent), 0),
    onto: (metered) => ({
      ...metered,
      take: () => {
        const taken = waiting
        waiting = []
        return [...metered.take(), ...taken]
      },
    }),
  }
}
