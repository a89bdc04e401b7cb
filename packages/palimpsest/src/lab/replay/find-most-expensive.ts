import type { Trace } from './create-tracer.ts'
import type { TracedRequest } from './traced-request.ts'

/** The most expensive step of a trace. */
export interface MostExpensiveStep {
  readonly strategy: string
  readonly window: number
  readonly request: TracedRequest
  /** Including the strategy's own calls. */
  readonly dollars: number
  /** Median cost of the steps. */
  readonly medianDollars: number
}

/** Undefined if nothing has a price. Of equally expensive steps, the first. */
export function findMostExpensive({ strategy, window, requests }: Trace): MostExpensiveStep | undefined {
  let mostExpensive: TracedRequest | undefined
  for (const request of requests)
    if (!mostExpensive || dollarsOf(request) > dollarsOf(mostExpensive)) mostExpensive = request
  if (!mostExpensive || dollarsOf(mostExpensive) === 0) return undefined
  const sorted = requests.map(dollarsOf).toSorted((a, b) => a - b)
  return {
    strategy,
    window,
    request: mostExpensive,
    dollars: dollarsOf(mostExpensive),
    medianDollars: sorted[Math.floor((sorted.length - 1) / 2)] ?? 0,
  }
}

function dollarsOf({ dollars, callDollars }: TracedRequest): number {
  return dollars + callDollars
}
