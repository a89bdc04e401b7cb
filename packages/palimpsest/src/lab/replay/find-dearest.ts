import type { Trace } from './create-tracer.ts'
import type { TracedRequest } from './traced-request.ts'

/** The step of a trace that cost most. */
export interface DearestStep {
  readonly strategy: string
  readonly window: number
  readonly request: TracedRequest
  /** With the strategy's own calls. */
  readonly dollars: number
  /** What half of the steps stay below. */
  readonly medianDollars: number
}

/** Undefined where nothing has a price. Of equals the first. */
export function findDearest({ strategy, window, requests }: Trace): DearestStep | undefined {
  let dearest: TracedRequest | undefined
  for (const request of requests) if (!dearest || dollarsOf(request) > dollarsOf(dearest)) dearest = request
  if (!dearest || dollarsOf(dearest) === 0) return undefined
  const sorted = requests.map(dollarsOf).toSorted((a, b) => a - b)
  return {
    strategy,
    window,
    request: dearest,
    dollars: dollarsOf(dearest),
    medianDollars: sorted[Math.floor((sorted.length - 1) / 2)] ?? 0,
  }
}

function dollarsOf({ dollars, callDollars }: TracedRequest): number {
  return dollars + callDollars
}
