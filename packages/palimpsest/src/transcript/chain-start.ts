import { isThinking, toBlocks } from '../wire/message.ts'
import { linkOf, type ChainLink } from './chain-link.ts'
import { newestLeaf, walkChain, type ChainWarning } from './chain-of.ts'
import { isPart, partsOf, type BoundaryEntry, type Entry, type EntryId, type MessageEntry } from './entry.ts'
import { isBlank } from './view-block.ts'

// From where a chain must be read so that its view equals that of the whole chain: from the first message that the newest boundary in force
// keeps.

/** A link with the parts of its entry that matter here: of boundaries, voids, edits and messages. */
export type StartLink = ChainLink & {
  readonly boundary?: BoundaryEntry
  readonly voids?: EntryId
  /** Messages that an edit changes. */
  readonly touches?: readonly EntryId[]
  /** An answer that says something. Unknown if only a line's first bytes were read. */
  readonly speaks?: true
  /** A message that is in view only through its boundary. Must be known for the first message that a boundary keeps. */
  readonly isPart?: true
}

export function startLinkOf(entry: Entry): StartLink {
  const link = linkOf(entry)
  if (entry.kind === 'boundary') return { ...link, boundary: entry }
  if (entry.kind === 'void') return { ...link, voids: entry.target }
  if (entry.kind === 'edit') {
    return { ...link, touches: [...entry.drop, ...entry.replace.map(({ at }) => at.entry)] }
  }
  if (link.isAnswer && entry.kind === 'message' && !isSilent(entry)) return { ...link, speaks: true }
  return entry.kind === 'message' && isPart(entry) ? { ...link, isPart: true } : link
}

export interface SelectedChain {
  /** Indexes into the links, in chain order; if the prefix in force is before the start, it comes first. */
  readonly places: readonly number[]
  /** The boundary where loading begins: undoing it needs what comes before it. Null: the chain is complete. */
  readonly from: EntryId | null
  readonly warnings: readonly ChainWarning[]
  /** The prefix in force is not among the links: it is earlier on the chain, from this entry backward. */
  readonly prefixBehind?: { readonly parent: EntryId | null; readonly offset?: number }
}

/** What to read of a file, given the links of all its lines or of its last ones. Undefined: more lines are needed. */
export function selectChain(links: readonly StartLink[], partial: boolean): SelectedChain | undefined {
  const leaf = newestLeaf(links)
  const end = leaf === undefined ? undefined : links[leaf]
  if (leaf === undefined || !end) return undefined
  // The end of a file may hold only lines outside the main chain.
  if (partial && (end.sidechain || end.kind === 'other')) return undefined
  const walk = walkChain(links, leaf, partial)
  const chain = walk.places.flatMap((place) => links[place] ?? [])
  const start = findStart(chain, walk.open !== undefined)
  if (!start && walk.open) return undefined
  const first = start?.index ?? 0
  const prefix = chain.findLastIndex((link) => link.kind === 'prefix')
  const prefixPlaces = prefix >= 0 && prefix < first ? walk.places.slice(prefix, prefix + 1) : []
  return {
    places: [...prefixPlaces, ...walk.places.slice(first)],
    from: start?.from ?? null,
    warnings: walk.warnings,
    ...(prefix === -1 && walk.open && { prefixBehind: { ...walk.open, ...start?.prefix } }),
  }
}

interface ChainStart {
  /** Where the prefix in force begins, according to the boundary. */
  readonly prefix?: { readonly offset: number }
  /** Index in the chain of the first entry to read. */
  readonly index: number
  readonly from: EntryId
}

/** Undefined: from the first entry on, or, if the chain is open, from an entry before the known ones. */
function findStart(chain: readonly StartLink[], isOpen: boolean): ChainStart | undefined {
  const boundaries = boundariesInForce(chain)
  const named = new Set(chain.flatMap((link) => link.voids ?? []))
  const indexById = new Map(chain.map((link, index) => [link.id, index]))
  for (const [i, { index, boundary }] of boundaries.entries()) {
    // A boundary that was ever undone, even if that undo was undone, makes the fold look further back.
    if (named.has(boundary.id)) continue
    const head = boundary.kept ? indexById.get(boundary.kept.head) : index
    if (head === undefined) continue
    const first = head === index ? index : barrierBefore(chain, head)
    // It may come before the known entries.
    if (first === undefined && isOpen) return undefined
    const before = boundaries[i + 1]
    const leansOnBefore = before && (before.index >= (first ?? 0) || names(before.boundary, chain[head]?.id))
    // It is part of a boundary that is not known yet.
    if (isOpen && chain[head]?.isPart && !leansOnBefore) return undefined
    if (leansOnBefore) continue
    const { prefixOffset } = boundary.meta
    return {
      index: first ?? 0,
      from: boundary.id,
      ...(prefixOffset !== undefined && { prefix: { offset: prefixOffset } }),
    }
  }
  return undefined
}

/**
 * What the view puts after the first kept message may come before it on the chain (a system message gives way to the user's), but
 * never before an answer that says something and that no edit changes. So reading starts from such an answer.
 */
function barrierBefore(chain: readonly StartLink[], head: number): number | undefined {
  const touched = new Set(chain.flatMap((link) => link.touches ?? []))
  const barrier = chain.findLastIndex((link, at) => at <= head && link.speaks && !touched.has(link.id))
  return barrier === -1 ? undefined : barrier
}

/** Nothing of it is ever sent: it has only thinking and blank text. */
function isSilent({ message }: MessageEntry): boolean {
  return toBlocks(message.content).every((block) => isThinking(block) || isBlank(block))
}

interface PlacedBoundary {
  readonly index: number
  readonly boundary: BoundaryEntry
}

/** Newest first: boundaries that are not undone and have all the messages they name after them. */
function boundariesInForce(chain: readonly StartLink[]): readonly PlacedBoundary[] {
  const later = new Set<EntryId>()
  const voided = new Set<EntryId>()
  const found: PlacedBoundary[] = []
  for (let index = chain.length - 1; index >= 0; index--) {
    const link = chain[index]
    if (!link) continue
    if (link.voids !== undefined && !voided.has(link.id)) voided.add(link.voids)
    const { boundary } = link
    if (boundary && !voided.has(link.id) && isComplete(boundary, later)) found.push({ index, boundary })
    later.add(link.id)
  }
  return found
}

/** A crash may leave a boundary without its summary. Such a boundary never took effect. */
function isComplete(boundary: BoundaryEntry, later: ReadonlySet<EntryId>): boolean {
  return partsOf(boundary).every((id) => later.has(id))
}

function names(boundary: BoundaryEntry, id: EntryId | undefined): boolean {
  return id !== undefined && partsOf(boundary).includes(id)
}
