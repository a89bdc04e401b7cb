import type { CompactResult } from '../layers/4-compaction/compaction-setup.ts'
import type { EntryId } from '../transcript/entry.ts'

/** A compaction that did not happen, and why. */
export type NotCompacted = Exclude<CompactResult, { kind: 'compacted' }>

/** Whether to report it. One for each conversation: it remembers what it was asked about. */
export type CompactionNews = (result: NotCompacted, about: NewsMoment) => boolean

export interface NewsMoment {
  /** It had begun, so the host objected. Before that there was nothing to do. */
  readonly began: boolean
  readonly boundary: EntryId | undefined
}

/**
 * A stop is reported once after a boundary; an objection only when it changes, because a host is asked at every crossing and repeats
 * itself.
 */
export function createCompactionNews(): CompactionNews {
  const told = new Set<EntryId>()
  let objection: string | undefined
  return (result, { began, boundary }) => {
    if (result.kind === 'refused') {
      const isFirst = began && objection !== result.why
      if (began) objection = result.why
      return isFirst
    }
    if (boundary === undefined) return true
    const isFirst = !told.has(boundary)
    told.add(boundary)
    return isFirst
  }
}
