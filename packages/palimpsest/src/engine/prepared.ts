import type { EntryId } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'

/** A summary that was made before it was needed. */
export interface Prepared {
  readonly text: string
  /** The last entry it covers. */
  readonly upTo: EntryId
  /** The boundary in force when it was made. */
  readonly boundary: EntryId | undefined
}

/** Where the rest begins; undefined where what it covers has left the view, or is behind a newer boundary. */
export function restBehind(view: View, { upTo, boundary }: Prepared): number | undefined {
  if (view.boundary?.entry.id !== boundary) return undefined
  const last = view.nodes.findIndex(({ entries }) => entries.includes(upTo))
  return last < 0 ? undefined : last + 1
}
