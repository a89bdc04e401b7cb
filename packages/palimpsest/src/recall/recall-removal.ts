import {
  isPart,
  type BoundaryEntry,
  type EditEntry,
  type Entry,
  type EntryId,
  type RemovalEntry,
} from '../transcript/entry.ts'
import { textsIn } from './recall-range.ts'
import { ownId, rowOf, usesIn, type Recalled, type RecalledRow, type RecallSource } from './recalled.ts'
import type { ToolUseBlock } from '../wire/message.ts'

// What a compaction or a clearing removed from view: the messages themselves, as they were said.

export async function recallRemoval(
  removal: RemovalEntry,
  source: RecallSource,
  charsMax: number,
): Promise<Recalled> {
  const entries = new Map<EntryId, Entry>()
  for await (const entry of source.entries(() => true)) entries.set(entry.id, entry)
  const ids = removal.kind === 'edit' ? editedBy(removal) : summarisedBy(removal, entries)
  const rows = rowsOf(ids, entries)
  if (rows.length === 0) return { kind: 'none' }
  const total = rows.reduce((sum, { chars }) => sum + chars, 0)
  return total > charsMax ? { kind: 'rows', rows } : await textsIn(rows, source, charsMax)
}

function editedBy({ replace, drop }: EditEntry): ReadonlySet<EntryId> {
  return new Set([...replace.map(({ at }) => at.entry), ...drop])
}

/** What was in view before it, minus what it kept. */
function summarisedBy(boundary: BoundaryEntry, entries: ReadonlyMap<EntryId, Entry>): ReadonlySet<EntryId> {
  const since: EntryId[] = []
  let before: BoundaryEntry | undefined
  for (const entry of chainOf(boundary.logicalParent ?? boundary.parent, entries)) {
    if (entry.kind === 'boundary') before = entry
    if (before) break
    if (entry.kind === 'message' && !isPart(entry)) since.push(entry.id)
  }
  const kept = keptBy(boundary, entries)
  const left = before ? [...keptBy(before, entries)] : []
  return new Set([...left, ...since].filter((id) => !kept.has(id)))
}

function keptBy(
  { kept, copies = [], logicalParent, parent }: BoundaryEntry,
  entries: ReadonlyMap<EntryId, Entry>,
): ReadonlySet<EntryId> {
  const ids = new Set<EntryId>()
  let isKept = false
  for (const { id } of kept ? chainOf(logicalParent ?? parent, entries) : []) {
    isKept ||= id === kept?.tail
    if (isKept) ids.add(id)
    if (id === kept?.head) break
  }
  for (const id of copies) {
    const copy = entries.get(id)
    if (copy) ids.add(ownId(copy))
  }
  return ids
}

/** The entry and what comes before it, newest first. */
function* chainOf(from: EntryId | null, entries: ReadonlyMap<EntryId, Entry>): Generator<Entry> {
  for (let id = from; id !== null;) {
    const entry = entries.get(id)
    if (!entry) return
    yield entry
    id = entry.parent ?? (entry.kind === 'boundary' ? entry.logicalParent : null)
  }
}

/** In the order in which they were said. */
function rowsOf(ids: ReadonlySet<EntryId>, entries: ReadonlyMap<EntryId, Entry>): readonly RecalledRow[] {
  const calls = new Map<string, ToolUseBlock>()
  const rows: RecalledRow[] = []
  for (const entry of entries.values()) {
    if (entry.kind !== 'message') continue
    for (const use of usesIn(entry)) calls.set(use.id, use)
    if (ids.has(entry.id)) rows.push(rowOf(entry, calls))
  }
  return rows
}
