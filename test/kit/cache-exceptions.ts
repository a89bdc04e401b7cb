import type { PredictedRequest } from './predict-cache.ts'

// Where a recorded request read something else than the ledger says: why. Each reason is one that the file bears out.

export const REASONS = {
  first: 'the first request: what other sessions had left in the cache is not in the file',
  compaction: 'the first request after a recorded compaction',
  expiry:
    'the lifetime had run out, as the ledger says; other sessions had kept a part of the hidden first prompt alive',
  clearing:
    'the recorded client cleared old content just before; which, or with what text, is not in the file',
  'side request':
    'the client had sent a request after the last answer that is not in the file: with it the ledger says the same as the provider',
  restart:
    'the client was left and started again, or continued from an earlier message: its hidden first prompt is a new one',
  'client text':
    'the client put in a text of its own (a skill); something hidden in its request must have changed with it, for the entry was alive',
  'out of sight':
    'the prompt became smaller though nothing in the file left it: content was cleared out of sight',
  'model change': 'another model has another cache',
  'hidden breakpoint':
    'it fell back into the hidden first prompt, as the ledger says; the file does not say where in that prompt a breakpoint is',
  lost: 'the entry was alive and the visible prompt unchanged: the provider dropped it, or something hidden changed',
  unexplained: 'none of these',
} as const

export type Reason = keyof typeof REASONS

/** How far prediction and report may be apart, as a share of the report. */
export const TOLERANCE = 0.01

export interface Judged extends PredictedRequest {
  readonly within: boolean
  /** Outside: first requests, recorded compactions, and lifetimes that ran out and did cost the cache. */
  readonly inScope: boolean
  /** For requests that are not within the tolerance. */
  readonly reason?: Reason
}

export function judge(request: PredictedRequest): Judged {
  const within = isNear(request.predicted, request.reported)
  const inScope = !['first', 'compaction', 'expiry'].includes(scopeOf(request))
  return { ...request, within, inScope, ...(!within && { reason: reasonOf(request) }) }
}

function scopeOf({ between, explanation, reported, earlierEnds }: PredictedRequest): string {
  if (between.gapMs === undefined) return 'first'
  if (between.boundary) return 'compaction'
  const isLost = reported < (earlierEnds[0] ?? 0) * (1 - TOLERANCE)
  return explanation.kind === 'expired' && isLost ? 'expiry' : 'inside'
}

function reasonOf(request: PredictedRequest): Reason {
  const { between, predicted, reported, withSideRequest, end, earlierEnds, hidden } = request
  const scope = scopeOf(request)
  if (scope === 'first' || scope === 'compaction' || scope === 'expiry') return scope
  if (between.modelChanged) return 'model change'
  if (between.clearing) return 'clearing'
  if (reported > predicted) return isNear(withSideRequest, reported) ? 'side request' : 'unexplained'
  if (between.restart) return 'restart'
  if (between.clientText) return 'client text'
  if (end < (earlierEnds[0] ?? 0)) return predicted <= hidden ? 'hidden breakpoint' : 'out of sight'
  return reported <= hidden || earlierEnds.includes(reported) ? 'lost' : 'unexplained'
}

function isNear(predicted: number, reported: number): boolean {
  return Math.abs(predicted - reported) <= TOLERANCE * reported
}
