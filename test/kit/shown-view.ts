import type { Entry, EntryId } from '../../packages/palimpsest/src/transcript/entry.ts'
import { viewOf } from '../../packages/palimpsest/src/transcript/view.ts'

/** All of a view that a request is made of, to be compared. */
export function shownView(entries: readonly Entry[], from: EntryId | null = null) {
  const view = viewOf(entries, from)
  return {
    prefix: view.prefix,
    open: [...view.open],
    nodes: view.nodes.map(({ role, extras, blocks }) => ({
      role,
      extras,
      blocks: blocks.map((block) => block.json),
    })),
  }
}
