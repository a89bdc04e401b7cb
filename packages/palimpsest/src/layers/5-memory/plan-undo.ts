import type { FilePatch, MemoryChange, MemoryFiles, MemoryRecord } from '../../memory-files.ts'
import { revertPatch, type FileText } from './file-patch.ts'
import { updateIndex } from './index-lines.ts'
import { storedMemories } from './stored-memories.ts'

// Undo: restores the bytes from before an entry, unless someone has changed them since. The undo is an entry too, and can be undone.

const INDEX = 'MEMORY'

export type PlannedUndo =
  | { readonly kind: 'change'; readonly change: MemoryChange; readonly target: MemoryRecord }
  | { readonly kind: 'refused'; readonly why: string }

/** Ids of entries that were undone and not redone. */
export function undoneIds(history: readonly MemoryRecord[]): ReadonlySet<string> {
  const undone = new Set<string>()
  // Oldest last: an undo counts unless a later one undoes it.
  for (const { id, undoes } of history) if (undoes !== undefined && !undone.has(id)) undone.add(undoes)
  return undone
}

/** The newest entry that can be undone, for when nobody says which. */
export function newestToUndo(history: readonly MemoryRecord[]): MemoryRecord | undefined {
  const undone = undoneIds(history)
  return history.find(({ id, undoes, isMark }) => undoes === undefined && isMark !== true && !undone.has(id))
}

/** `history` is newest first. */
export function planUndo(
  target: MemoryRecord,
  files: MemoryFiles,
  history: readonly MemoryRecord[],
): PlannedUndo {
  if (undoneIds(history).has(target.id)) return { kind: 'refused', why: `${target.id} is already undone` }
  const later = history.slice(
    0,
    history.findIndex(({ id }) => id === target.id),
  )
  const texts = new Map<string, string | null>()
  let index: string | undefined
  for (const patch of target.changed) {
    const since = later.filter((record) => record.changed.some(({ file }) => file === patch.file))
    const now = patch.file === INDEX ? files.index || null : (files.texts.get(patch.file) ?? null)
    const before = textBefore(patch, now, since)
    if (patch.file === INDEX) index = before === undefined ? undefined : (before ?? '')
    else if (before === undefined) return { kind: 'refused', why: whyNot(patch, since) }
    else texts.set(patch.file, before)
  }
  const change = {
    by: 'user' as const,
    reason: `undo of ${target.id}: ${target.reason}`,
    undoes: target.id,
    texts,
    index: index ?? indexAfter(files, texts),
  }
  return { kind: 'change', change, target }
}

/** The text before the entry, if only marks and entries that cancel each other came after it. */
function textBefore(patch: FilePatch, now: FileText, since: readonly MemoryRecord[]): FileText | undefined {
  let text: FileText | undefined = now
  for (const mark of since.filter(({ isMark }) => isMark === true)) {
    const own = mark.changed.find(({ file }) => file === patch.file)
    const reverted: FileText | undefined = own && text !== undefined ? revertPatch(own, text) : undefined
    if (reverted !== undefined) text = reverted
  }
  return text === undefined ? undefined : revertPatch(patch, text)
}

function whyNot({ file }: FilePatch, since: readonly MemoryRecord[]): string {
  const undone = undoneIds(since)
  const changed = since.find(
    ({ id, undoes, isMark }) => undoes === undefined && isMark !== true && !undone.has(id),
  )
  return changed
    ? `${file}.md was changed since, by ${changed.id}. Undo that first`
    : `${file}.md was changed by somebody else since. Nothing is undone; edit the file yourself`
}

/** Other lines of the index were added since, so only those of these memories change. */
function indexAfter(files: MemoryFiles, texts: ReadonlyMap<string, string | null>): string {
  const after = new Map(files.texts)
  for (const [name, text] of texts) {
    if (text === null) after.delete(name)
    else after.set(name, text)
  }
  return updateIndex(files.index, new Set(texts.keys()), storedMemories({ texts: after }))
}
