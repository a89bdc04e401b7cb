import type { Prepared } from '../../../background/keepers.ts'
import type { View } from '../../../transcript/view.ts'

/** Where the rest begins; undefined where what it covers has left the view, or is behind a newer boundary. */
export function restBehind(view: View, { upTo, boundary }: Prepared): number | undefined {
  if (view.boundary?.entry.id !== boundary) return undefined
  const last = view.nodes.findIndex(({ entries }) => entries.includes(upTo))
  return last < 0 ? undefined : last + 1
}
