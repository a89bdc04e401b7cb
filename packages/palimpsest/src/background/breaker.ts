import type { View } from '../transcript/view.ts'
import { recordOf, type CompactionRecord } from '../situation/compaction-record.ts'

// Models that fail again and again are left alone for a while. For compactions, the state is in the conversation's newest boundary.

/** After this many failures in a row, a model is no longer asked automatically. */
export const FAILURES_MAX = 3
/** After this long it is asked once more. */
export const BREAKER_REST_MS = 30 * 60_000

/** What one try says about the next one. */
export interface Tried {
  readonly made?: unknown
  readonly hasFailed: boolean
}

/** Failures in a row, with this try counted: one that made nothing and did not fail changes nothing. */
export function failuresAfter({ made, hasFailed }: Tried, before: number): number {
  if (hasFailed) return before + 1
  return made === undefined ? before : 0
}

/** Whether models failed so often that none is asked automatically now, for a summary or for what may become one. */
export function isBreakerOpen(view: View, now: number): boolean {
  return isOpenAfter(recordOf(view.boundary?.entry), { now, model: view.prefix?.model ?? '' })
}

/** Open after failures in a row; half open on another model, or after a rest. */
export function isOpenAfter(
  before: CompactionRecord | undefined,
  { now, model }: { readonly now: number; readonly model: string },
): boolean {
  if (!before || before.failures < FAILURES_MAX) return false
  return model === before.model && now - before.triedAt < BREAKER_REST_MS
}
