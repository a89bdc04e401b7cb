import type { Entry } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'
import { voidedBy } from '../transcript/voided.ts'
import type { Facts } from './facts.ts'
import { factsIn, noFactsYet, stepFacts, type FactsState } from './step-facts.ts'

interface Gathered {
  state: FactsState
  /** How many entries of the log it includes. */
  count: number
  facts: Facts | undefined
}

/** A log belongs to one appender and only grows; an undo creates a new one. So what was gathered from it stays true. */
const gatheredByLog = new WeakMap<readonly Entry[], Gathered>()

/** The facts of the entries that a view was folded from. */
export function factsOf(view: Pick<View, 'log' | 'from'>): Facts {
  const gathered = gather(view)
  gathered.facts ??= factsIn(gathered.state)
  return gathered.facts
}

/** Only the errors: the other facts are lists as long as the conversation, and copying those before every request is expensive. */
export function errorsOf(view: Pick<View, 'log' | 'from'>): Facts['errors'] {
  return gather(view).state.errors
}

/** A repeated call costs only as much as was appended since. */
function gather({ log, from }: Pick<View, 'log' | 'from'>): Gathered {
  const known = gatheredByLog.get(log)
  const gathered = known ?? { state: noFactsYet(from === null), count: 0, facts: undefined }
  if (!known) gatheredByLog.set(log, gathered)
  if (gathered.count === log.length) return gathered
  const voided = gathered.count === 0 ? voidedBy(log) : undefined
  for (; gathered.count < log.length; gathered.count++) {
    const entry = log[gathered.count]
    if (entry && !voided?.has(entry.id)) gathered.state = stepFacts(gathered.state, entry)
  }
  gathered.facts = undefined
  return gathered
}
