import type { BoundaryEntry, Entry, EntryId } from './entry.ts'

/**
 * Another agent's boundary does not name its summary, which is what follows it. This function adds the name. A boundary that names a
 * summary already stays as it is. `entries` are a chain.
 */
export function linkSummaries(entries: readonly Entry[]): readonly Entry[] {
  return entries.map((entry, index) => {
    if (entry.kind !== 'boundary' || entry.summary.length > 0) return entry
    const summary = summaryAfter(entries, index)
    return summary.length === 0 ? entry : ({ ...entry, summary } satisfies BoundaryEntry)
  })
}

function summaryAfter(entries: readonly Entry[], boundary: number): readonly EntryId[] {
  const ids: EntryId[] = []
  for (let index = boundary + 1; index < entries.length; index++) {
    const entry = entries[index]
    if (entry?.kind === 'boundary') break
    if (entry?.kind !== 'message') continue
    if (entry.part !== 'summary') break
    ids.push(entry.id)
  }
  return ids
}
