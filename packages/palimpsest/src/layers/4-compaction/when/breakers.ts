import { BREAKER_REST_MS, FAILURES_MAX } from '../../../background/breaker.ts'
import { decideCompaction, type CompactionMoment } from './decide.ts'
import { recordOf } from '../../../situation/compaction-record.ts'
import type { Entry } from '../../../transcript/entry.ts'
import type { View } from '../../../transcript/view.ts'

// Whether what acts by itself still does. It all follows from the transcript, so a report says what the next request would find.

export interface Breaker {
  /** `half-open`: it may try once more. */
  readonly state: 'closed' | 'half-open' | 'open'
  /** Failures in a row. */
  readonly failures: number
  /** When it may try again, in milliseconds since 1970. */
  readonly retryAt?: number
}

export interface Breakers {
  /** Asking models for summaries. */
  readonly summaries: Breaker
  /** Compacting by threshold; a failure is a window that was full again at once. */
  readonly refills: Breaker
  /** Asking a model for notes. */
  readonly notes: Breaker
}

export function breakersOf(
  view: View,
  moment: Pick<CompactionMoment, 'now' | 'model' | 'thresholdTokens'>,
): Breakers {
  const record = recordOf(view.boundary?.entry)
  const next = decideCompaction(view, { ...moment, cause: 'threshold', source: 'main' })
  const inVain = notesInVain(view.log)
  return {
    summaries: summaryBreaker(record?.failures ?? 0, record?.triedAt ?? 0, moment.now),
    refills: { state: next.kind === 'stop' ? 'open' : 'closed', failures: record?.refills ?? 0 },
    notes: { state: inVain >= FAILURES_MAX ? 'open' : 'closed', failures: inVain },
  }
}

function summaryBreaker(failures: number, triedAt: number, now: number): Breaker {
  if (failures < FAILURES_MAX) return { state: 'closed', failures }
  const retryAt = triedAt + BREAKER_REST_MS
  return now < retryAt ? { state: 'open', failures, retryAt } : { state: 'half-open', failures }
}

/** Calls for notes since the last one that brought some; runs of one session count together. A call that was aborted has not failed. */
export function notesInVain(log: readonly Entry[]): number {
  const since = log.slice(log.findLastIndex(({ kind }) => kind === 'notes') + 1)
  return since.filter(
    (entry) => entry.kind === 'spent' && entry.source === 'session-memory' && !entry.estimated,
  ).length
}
