import type { MemoryRecord } from '../../../memory-files.ts'
import type { Memory } from '../memory.ts'
import { undoneIds } from '../plan-undo.ts'
import { holds } from '../stored-memories.ts'

// How much of what memory held may go in one consolidation, and in all of a month: removed, merged into another, or ended.

const GONE_SHARE_MAX = 0.25
const GONE_SHARE_MONTH_MAX = 0.4
export const MONTH_MS = 30 * 24 * 60 * 60_000

/** How many of those that hold may go now and within the month. `history` is newest first. */
export function goneMax(
  before: readonly Memory[],
  history: readonly MemoryRecord[],
  now: number,
): { readonly now: number; readonly month: number } {
  const held = before.filter(holds).length
  const earlier = goneByDreams(history, now)
  return {
    now: Math.floor(held * GONE_SHARE_MAX),
    month: Math.max(0, Math.floor((held + earlier) * GONE_SHARE_MONTH_MAX) - earlier),
  }
}

/** Names of those that held and no longer hold. */
export function goneNames(before: readonly Memory[], after: readonly Memory[]): readonly string[] {
  const holding = new Set(after.filter(holds).map(({ name }) => name))
  return before.filter((one) => holds(one) && !holding.has(one.name)).map(({ name }) => name)
}

function goneByDreams(history: readonly MemoryRecord[], now: number): number {
  const undone = undoneIds(history)
  return history
    .filter(
      ({ id, by, at, undoes }) =>
        by === 'dream' && undoes === undefined && !undone.has(id) && now - at < MONTH_MS,
    )
    .flatMap(({ changed }) => changed)
    .filter(({ file, after, removed, added }) => {
      if (file === 'MEMORY') return false
      return after === null ? !ENDED.test(removed) : ENDED.test(added) && !ENDED.test(removed)
    }).length
}

const ENDED = /^ended: /m
