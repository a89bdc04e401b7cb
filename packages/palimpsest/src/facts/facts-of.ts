import type { Entry } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'
import { voidedBy } from '../transcript/voided.ts'
import type { Facts } from './facts.ts'
import { factsIn, noFactsYet, stepFacts, type FactsState } from './step-facts.ts'

interface Gathered {
  state: FactsState
  /** Entries of the log that are in it. */
  count: number
  facts: Facts | undefined
}

/** A log belongs to one appender and only grows; an undo makes a new one. So what was gathered from it stays true. */
const gatheredByLog = new WeakMap<readonly Entry[], Gathered>()

/** The facts of what a view was folded from. Asking again costs what was appended since. */
export function factsOf({ log, from }: Pick<View, 'log' | 'from'>): Facts {
  const known = gatheredByLog.get(log)
  const gathered = known ?? { state: noFactsYet(from === null), count: 0, facts: undefined }
  if (!known) gatheredByLog.set(log, gathered)
  if (gathered.facts && gathered.count === log.length) return gathered.facts
  const voided = gathered.count === 0 ? voidedBy(log) : undefined
  for (; gathered.count < log.length; gathered.count++) {
    const entry = log[gathered.count]
    if (entry && !voided?.has(entry.id)) gathered.state = stepFacts(gathered.state, entry)
  }
  gathered.facts = factsIn(gathered.state)
  return gathered.facts
}
