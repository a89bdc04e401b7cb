import { readTranscript } from 'palimpsest/node'
import type { Entry } from 'palimpsest/transcript'

import { findById } from './find-by-id.ts'
import type { StoredSession } from './open-stored.ts'

/** Finds an entry by its id or the start of it, whether or not it is still in view. */
export async function findEntry(
  id: string,
  { view, opened }: Pick<StoredSession, 'view' | 'opened'>,
): Promise<Entry | undefined> {
  const loaded = view.log.find((entry) => entry.id === id)
  if (loaded) return loaded
  const found: { readonly id: string; readonly entry: Entry; readonly about: string }[] = []
  for await (const item of readTranscript(opened.file.path))
    if (item.kind === 'entry' && item.entry.id.startsWith(id))
      found.push({ id: item.entry.id, entry: item.entry, about: item.entry.kind })
  return findById(id, found, 'entries')?.entry
}
