import type { StoredResult } from './apply.ts'
import type { StoredEntry } from '../../transcript/entry.ts'
import type { EntryBody } from '../../situation/session.ts'

export type StoredBody = EntryBody<StoredEntry>

/** The frozen decision. A result that could only be cut has no blob to name; its message holds all there is. */
export function storedBody({ toolUseId, standIn, blob }: StoredResult): StoredBody[] {
  return blob ? [{ kind: 'stored', toolUseId, blob, standIn }] : []
}
