import type { History } from '../ports.ts'
import type { Entry, EntryId, MessageEntry } from '../transcript/entry.ts'
import type { Hash } from '../wire/hash.ts'
import type { OwnerMark } from './breakpoint-marks.ts'
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
  /** Breakpoints on all of its messages. */
  readonly marks: readonly OwnerMark[]
  /** Messages at its beginning that are the same objects. */
  readonly same: number
}

/** The history of the last request, message by message, and its breakpoints. */
export interface KnownHistory {
  readonly objects: OwnerMessage[]
  readonly marks: readonly OwnerMark[]
}

/** The same for another history, of which the first `same` objects are those of this one. It is used up: a copy would cost the whole length. */
export function knownAs(
  known: KnownHistory | undefined,
  messages: readonly OwnerMessage[],
  same: number,
  marks: readonly OwnerMark[],
): KnownHistory {
  const objects = known?.objects ?? []
  // Written over in place: to cut the list and fill it again costs its length.
  for (let i = Math.min(same, objects.length); i < messages.length; i++) {
    const message = messages[i]
    if (message && objects[i] !== message) objects[i] = message
  }
  if (objects.length > messages.length) objects.length = messages.length
  return { objects, marks }
}

/** Of the newest, so many are looked at for changes that were made in place. Of older ones, the same object is the same message. */
const NEWEST_LOOKED_AT = 64

/** `path` begins with the root. Objects that were seen are not looked at again; `known` is the history that the path was made for. */
export function reconcile(
  path: readonly OwnerNode[],
  messages: readonly OwnerMessage[],
  known: KnownHistory | undefined,
): Reconciled {
  const first = sameObjects(messages, known?.objects ?? [])
  const marks = known?.marks.filter(({ message }) => message < first) ?? []
  const note = (message: number, { marks: own }: SeenMessage): void => {
    for (const mark of own) marks.push({ ...mark, message })
  }
  let at = first
  for (; at < messages.length; at++) {
    const seen = sameAs(path[at + 1], messages[at], at)
    if (!seen) break
    if (seen.marks.length > 0) note(at, seen)
  }
  const regained: OwnerNode[] = []
  const added: SeenMessage[] = []
  let from = path[at]
  for (const [i, message] of messages.slice(at).entries()) {
    const seen = look(message, at + i)
    note(at + i, seen)
    const child = added.length === 0 ? from?.children.get(seen.key) : undefined
    if (!child) {
      added.push(seen)
      continue
    }
    child.seen = seen
    regained.push(child)
    from = child
  }
  return { kept: at, regained, added, marks, same: first }
}

/**
 * How many of the older ones are the objects that they were. `===` asks an object what it is before it compares, and so fetches each of
 * thousands from memory; `Object.is` compares the references.
 */
function sameObjects(messages: readonly OwnerMessage[], objects: readonly OwnerMessage[]): number {
  const end = Math.min(messages.length - NEWEST_LOOKED_AT, objects.length)
  let at = 0
  while (at < end && Object.is(messages[at], objects[at])) at++
  return at
}

/** The message as it is now, where it says what the node says. */
function sameAs(
  node: OwnerNode | undefined,
  message: OwnerMessage | undefined,
  place: number,
): SeenMessage | undefined {
  if (!node || !message) return undefined
  if (node.seen && isUnchanged(node.seen, message)) return node.seen
  const seen = look(message, place)
  if (seen.key !== node.key) return undefined
  node.seen = seen
  return seen
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
): Promise<OwnerNode[]> {
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

export function pathTo(tip: OwnerNode): OwnerNode[] {
  const path: OwnerNode[] = []
  for (let node: OwnerNode | undefined = tip; node; node = node.parent) path.push(node)
  return path.toReversed()
}
