import type { MessageEntry } from '../../../transcript/entry.ts'
import type { View, ViewNode } from '../../../transcript/view.ts'

/** The entries that nodes were made of, oldest first. A kept copy is found by the id of what it repeats. */
export function messageEntries(view: View, nodes: readonly ViewNode[]): readonly MessageEntry[] {
  const wanted = new Set(nodes.flatMap((node) => node.entries))
  const found = new Map<string, MessageEntry>()
  for (const entry of wanted.size > 0 ? view.log : []) {
    if (entry.kind !== 'message') continue
    const id = entry.copyOf ?? entry.id
    if (wanted.has(id)) found.set(id, entry)
  }
  return nodes.flatMap((node) => node.entries.flatMap((id) => found.get(id) ?? []))
}
