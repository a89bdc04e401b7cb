import type { BoundaryEntry, Entry, EntryId } from '../../../transcript/entry.ts'

/**
 * Gives each boundary the summary and the restored attachments that follow it. The file marks summaries; attachments are what the
 * recorded agent added on its own before any other message.
 */
export function settleBoundaries(entries: readonly Entry[], asides: ReadonlySet<EntryId>): Entry[] {
  const settled = [...entries]
  entries.forEach((entry, index) => {
    if (entry.kind === 'boundary') settleBoundary(settled, index, entry, asides)
  })
  return settled
}

function settleBoundary(
  entries: Entry[],
  index: number,
  boundary: BoundaryEntry,
  asides: ReadonlySet<EntryId>,
): void {
  const summary: EntryId[] = [...boundary.summary]
  const attachments: EntryId[] = []
  for (let at = index + 1; at < entries.length; at++) {
    const entry = entries[at]
    if (entry?.kind === 'other') continue
    if (entry?.kind !== 'message') break
    if (entry.part === 'summary') {
      if (!summary.includes(entry.id)) summary.push(entry.id)
    } else if (asides.has(entry.id)) {
      attachments.push(entry.id)
      entries[at] = { ...entry, part: 'attachment' }
    } else break
  }
  entries[index] = { ...boundary, summary, attachments }
}
