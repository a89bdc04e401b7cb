import type { EntryId } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'

/** The last message that a request has carried: it comes before the newest answer. */
export function lastSent(view: View): EntryId | undefined {
  const newest = view.nodes.findLastIndex((node) => node.role === 'assistant')
  return newest > 0 ? view.nodes[newest - 1]?.entries.at(-1) : undefined
}
