import type { History } from '../ports.ts'
import type { Entry, EntryId, MessageEntry } from '../transcript/entry.ts'
import type { Hash } from '../wire/hash.ts'
import type { OwnerMark } from './breakpoint-marks.ts'
import { isUnchanged, keyOf, look, type OwnerMessage, type SeenMessage } from './owner-message.ts'

// All histories that an owner ever sent, as one tree: a beginning that two of them share is there once. A history is found in it by what
// its messages say, so a copy is the same history, and one that was left is found again when its owner returns to it.

export interface OwnerNode {
  readonly key: Hash
  /** The entry of the message; null for the beginning, before any. */
  readonly entry: EntryId | null
  readonly parent: OwnerNode | undefined
  readonly children: Map<Hash, OwnerNode>
  /** The one of its children that the owner was at last. */
  lastChild: OwnerNode | undefined
  /** The newest entry whose last message of the owner's is this one. */
  leaf: EntryId | null
  /** As its owner last sent it. */
  seen: SeenMessage | undefined
}

/** The beginning of all histories. */
export function newRoot(): OwnerNode {
  const children = new Map<Hash, OwnerNode>()
  return {
    key: '',
    entry: null,
    parent: undefined,
    children,
    lastChild: undefined,
    leaf: null,
    seen: undefined,
  }
}

/** Adds a message after another. If there was one that says the same, what came after that one is still found. */
export function childOf(parent: OwnerNode, key: Hash, entry: EntryId): OwnerNode {
  const { children = new Map<Hash, OwnerNode>(), lastChild } = parent.children.get(key) ?? {}
  const node = { key, entry, parent, children, lastChild, leaf: entry, seen: undefined }
  parent.children.set(key, node)
  parent.lastChild = node
  return node
}

/** The owner is at the end of this path now. */
export function markVisited(path: readonly OwnerNode[]): void {
  for (const [i, node] of path.entries()) if (i > 0 && node.parent) node.parent.lastChild = node
}

/** How a history relates to what is known. */
export interface Reconciled {
  /** How many messages of the path it begins with. */
  readonly kept: number
  /** The messages after those that were known before, on another path. */
  readonly regained: readonly OwnerNode[]
  /** New messages, with their keys. */
  readonly added: readonly SeenMessage[]
  /** Breakpoints on all of its messages. */
  readonly marks: readonly OwnerMark[]
  /** How many messages at its beginning are the same objects. */
  readonly same: number
}

/** The history of the last request, message by message, and its breakpoints. */
export interface KnownHistory {
  readonly objects: OwnerMessage[]
  readonly marks: readonly OwnerMark[]
}

/**
 * The same for another history, whose first `same` objects are those of this one. `known` is used up: a copy would cost the whole length.
 */
export function knownAs(
  known: KnownHistory | undefined,
  messages: readonly OwnerMessage[],
  same: number,
  marks: readonly OwnerMark[],
): KnownHistory {
  const objects = known?.objects ?? []
  // Overwritten in place: clearing the list and filling it again costs its length.
  for (let i = Math.min(same, objects.length); i < messages.length; i++) {
    const message = messages[i]
    if (message && objects[i] !== message) objects[i] = message
  }
  if (objects.length > messages.length) objects.length = messages.length
  return { objects, marks }
}

/** How many of the newest are checked for changes in place. For older ones, the same object is the same message. */
const NEWEST_LOOKED_AT = 64

/** `path` begins with the root. Objects that we have seen are not read again; `known` is the history that the path was made for. */
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
 * How many of the older messages are the same objects as before. `===` asks an object what it is before it compares, and so fetches each of
 * thousands from memory; `Object.is` compares the references.
 */
function sameObjects(messages: readonly OwnerMessage[], objects: readonly OwnerMessage[]): number {
  const end = Math.min(messages.length - NEWEST_LOOKED_AT, objects.length)
  let at = 0
  while (at < end && Object.is(messages[at], objects[at])) at++
  return at
}

/** The message as it is now, if it says what the node says. */
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

/** A message that the owner sent, or that a model answered: not one that the engine made. */
export function isOwners(entry: Entry): entry is MessageEntry {
  return (
    entry.kind === 'message' &&
    entry.part === undefined &&
    entry.origin !== 'engine' &&
    entry.origin !== 'recall'
  )
}

/** The tree of what is stored, as the path to its newest entry; `told` receives each message in it. */
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
    // It marks where a branch begins, or that its owner has returned to one.
    if (entry.kind === 'title') markVisited(pathTo(tip))
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
