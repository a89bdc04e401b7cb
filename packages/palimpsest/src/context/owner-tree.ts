import type { History } from '../ports.ts'
import type { Entry, EntryId, MessageEntry } from '../transcript/entry.ts'
import type { Hash } from '../wire/hash.ts'
import { isUnchanged, keyOf, look, type OwnerMessage, type SeenMessage } from './owner-message.ts'

// All histories that an owner ever sent, as one tree: what two of them begin with is there once. A history is found in it by what its
// messages say, so a copy is the same history, and one that was left is found again when its owner returns to it.

export interface OwnerNode {
  readonly key: Hash
  /** The entry of the message; null for the beginning, before any. */
  readonly entry: EntryId | null
  readonly parent: OwnerNode | undefined
  readonly children: Map<Hash, OwnerNode>
  /** The newest entry that has this message as the newest one of the owner's before it. */
  leaf: EntryId | null
  /** As its owner sent it last. */
  seen: SeenMessage | undefined
}

/** The beginning of all histories. */
export function newRoot(): OwnerNode {
  return { key: '', entry: null, parent: undefined, children: new Map(), leaf: null, seen: undefined }
}

/** A message behind another. Where one was there that says the same, what came behind that one is found as before. */
export function childOf(parent: OwnerNode, key: Hash, entry: EntryId): OwnerNode {
  const children = parent.children.get(key)?.children ?? new Map<Hash, OwnerNode>()
  const node = { key, entry, parent, children, leaf: entry, seen: undefined }
  parent.children.set(key, node)
  return node
}

/** How a history stands to what is known. */
export interface Reconciled {
  /** Messages of the path that it begins with. */
  readonly kept: number
  /** What it has behind them that was known before, on another path. */
  readonly regained: readonly OwnerNode[]
  /** What is new, with its keys. */
  readonly added: readonly SeenMessage[]
}

/** `path` begins with the root. Objects that were seen are not looked at again. */
export function reconcile(path: readonly OwnerNode[], messages: readonly OwnerMessage[]): Reconciled {
  let at = 0
  while (at < messages.length && isSame(path[at + 1], messages[at])) at++
  const regained: OwnerNode[] = []
  const added: SeenMessage[] = []
  let from = path[at]
  for (const message of messages.slice(at)) {
    const seen = look(message)
    const known = added.length === 0 ? from?.children.get(seen.key) : undefined
    if (!known) {
      added.push(seen)
      continue
    }
    known.seen = seen
    regained.push(known)
    from = known
  }
  return { kept: at, regained, added }
}

function isSame(node: OwnerNode | undefined, message: OwnerMessage | undefined): boolean {
  if (!node || !message) return false
  if (node.seen && isUnchanged(node.seen, message)) return true
  const seen = look(message)
  if (seen.key !== node.key) return false
  node.seen = seen
  return true
}

/** A message that the owner sent, or that a model answered him: not one of the engine's own making. */
export function isOwners(entry: Entry): entry is MessageEntry {
  return (
    entry.kind === 'message' &&
    entry.part === undefined &&
    entry.origin !== 'engine' &&
    entry.origin !== 'recall'
  )
}

/** The tree of what is stored, as the path to its newest entry; `told` hears of each message in it. */
export async function readTree(
  history: Pick<History, 'entries'>,
  leaf: EntryId | null,
  told: (entry: MessageEntry) => void,
): Promise<readonly OwnerNode[]> {
  const root = newRoot()
  const tips = new Map<EntryId, OwnerNode>()
  for await (const entry of history.entries(() => true)) {
    if (entry.sidechain) continue
    const before = tips.get(parentOf(entry) ?? '') ?? root
    const tip = isOwners(entry) ? childOf(before, keyOf(entry.message), entry.id) : before
    if (isOwners(entry)) told(entry)
    tips.set(entry.id, tip)
    tip.leaf = entry.id
  }
  return pathTo(tips.get(leaf ?? '') ?? root)
}

function parentOf(entry: Entry): EntryId | null {
  return entry.parent ?? (entry.kind === 'boundary' ? entry.logicalParent : null)
}

export function pathTo(tip: OwnerNode): readonly OwnerNode[] {
  const path: OwnerNode[] = []
  for (let node: OwnerNode | undefined = tip; node; node = node.parent) path.push(node)
  return path.toReversed()
}
