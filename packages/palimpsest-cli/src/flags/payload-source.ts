import type { FlagSource, FlagValue, TraceEvent } from 'palimpsest'

import {
  hasRules,
  loadEvaluator,
  NOTHING_SAID,
  plainValues,
  type EvaluateFeatures,
  type Evaluated,
  type FlagAttributes,
} from './evaluate-features.ts'
import type { Payload } from './read-payload.ts'

// The values of the newest payload. They are computed when it arrives, so that a decision only looks them up.

export interface PayloadSource extends FlagSource {
  /** The payload that counts, whether or not its rules are evaluated yet. */
  readonly payload: () => Payload | undefined
  readonly take: (payload: Payload | undefined) => void
  /** Resolves when the newest payload counts. */
  readonly settled: () => Promise<void>
}

export interface PayloadSourceOptions {
  readonly name: string
  readonly attributes: FlagAttributes
  /** A sentence for the user. */
  readonly report: (problem: string) => void
  readonly trace: (event: TraceEvent) => void
}

export function createPayloadSource(options: PayloadSourceOptions): PayloadSource {
  const { name, attributes, report, trace } = options
  let newest: Payload | undefined
  let evaluated = NOTHING_SAID
  let evaluate: EvaluateFeatures | undefined
  let loading: Promise<void> = Promise.resolve()
  const settle = (next: Evaluated): void => {
    for (const problem of next.problems) report(problem)
    for (const event of changesOf(evaluated, next)) trace({ ...event, from: name })
    evaluated = next
  }
  /** Values stay as they were until the library is loaded; nothing waits for it. */
  const load = async (payload: Payload): Promise<void> => {
    try {
      evaluate = await loadEvaluator()
    } catch (error) {
      report(`rules cannot be evaluated: ${String(error)}`)
      return
    }
    if (newest === payload) settle(evaluate(payload, attributes))
  }
  return {
    name,
    find: (key) => evaluated.values.get(key),
    payload: () => newest,
    settled: async () => await loading,
    take: (payload) => {
      newest = payload
      if (!payload) settle(NOTHING_SAID)
      else if (!hasRules(payload)) settle(plainValues(payload))
      else if (evaluate) settle(evaluate(payload, attributes))
      else loading = load(payload)
    },
  }
}

/** One event for each flag whose value changed. */
function changesOf(before: Evaluated, after: Evaluated): TraceEvent[] {
  const keys = new Set([...before.values.keys(), ...after.values.keys()])
  return [...keys].flatMap((flag) => {
    const value: FlagValue | undefined = after.values.get(flag)
    const experiment = after.experiments.get(flag)
    if (value === before.values.get(flag) && experiment === before.experiments.get(flag)) return []
    return [{ name: 'flag', flag, value, experiment }]
  })
}
