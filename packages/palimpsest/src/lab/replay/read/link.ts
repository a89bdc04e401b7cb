import { linkOf, type ChainLink } from '../../../transcript/chain-link.ts'
import type { Entry, EntryId, KeptSegment } from '../../../transcript/entry.ts'

// Which line each line follows, whether or not the file says so.

/** A line that has a place in a chain. */
export interface ChainNode {
  readonly id: EntryId
  /** As recorded. Undefined: the format has no parents, so the line follows the one before it. */
  readonly parent: EntryId | null | undefined
  readonly line: number
  /** Absent for lines that only link others. */
  readonly entry?: Entry
  /** The sub-agent whose conversation it belongs to: empty if the file does not name the agent, absent in the main conversation. */
  readonly sidechain?: string
  /** The recorded agent added it on its own: it belongs to its parent line. */
  readonly aside?: boolean
}

/** Links to walk, one per node, including the parents that the file leaves out. */
export function linkNodes(nodes: readonly ChainNode[]): ChainLink[] {
  const newest = new Map<string | undefined, EntryId>()
  let kept: KeptSegment | undefined
  return nodes.map((node) => {
    const { id, entry, sidechain } = node
    const previous = newest.get(sidechain) ?? null
    // After a boundary that kept a tail, lines continue from the tail, which is before the boundary in the file.
    const unsaid = node.parent === undefined || (kept !== undefined && node.parent === kept.tail)
    const parent = unsaid ? previous : (node.parent ?? null)
    newest.set(sidechain, id)
    if (entry?.kind === 'boundary') kept = entry.kept
    const link = entry ? linkOf(entry) : { id, kind: 'other' as const }
    return { ...link, parent, ...(sidechain !== undefined && { sidechain: true }) }
  })
}

/** For each node the nearest entry that it follows, skipping nodes that only link. */
export function linkEntries(
  nodes: readonly ChainNode[],
  links: readonly ChainLink[],
): ReadonlyMap<EntryId, ChainNode | null> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(links.map((link) => [link.id, link.parent ?? link.logicalParent ?? null]))
  const found = new Map<EntryId, ChainNode | null>()
  for (const node of nodes) {
    const passed: EntryId[] = []
    let at: ChainNode | undefined = node
    let entry: ChainNode | null | undefined
    while (at && entry === undefined) {
      passed.push(at.id)
      // A preliminary value, so that a cycle of parents ends.
      found.set(at.id, null)
      at = byId.get(parents.get(at.id) ?? '')
      entry = at?.entry ? at : at && found.get(at.id)
    }
    for (const id of passed) found.set(id, entry ?? null)
  }
  return found
}
