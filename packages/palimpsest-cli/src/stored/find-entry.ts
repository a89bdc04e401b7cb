import { readTranscript } from 'palimpsest/node'
import type { Entry } from 'palimpsest/transcript'

import type { StoredSession } from './open-stored.ts'

/** By its id, in view or long out of it. */
export async function findEntry(
  id: string,
  { view, opened }: Pick<StoredSession, 'view' | 'opened'>,
): Promise<Entry | undefined> {
  const loaded = view.log.find((entry) => entry.id === id)
  if (loaded) return loaded
  for await (const item of readTranscript(opened.file.path))
    if (item.kind === 'entry' && item.entry.id === id) return item.entry
  return undefined
}
