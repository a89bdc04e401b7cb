import type { Entry, EntryId } from './entry.ts'

/** Entries that do not count because a void in force names them. The newest void decides first, so a void can be voided. */
export function voidedBy(entries: readonly Entry[]): ReadonlySet<EntryId> {
  const voided = new Set<EntryId>()
  for (const entry of entries.toReversed())
    if (entry.kind === 'void' && !voided.has(entry.id)) voided.add(entry.target)
  return voided
}
