import { linkOf, type ChainLink } from './chain-link.ts'
import { isLoose } from './lines/codec.ts'
import type { Entry, EntryId } from './entry.ts'
import { withParallelParts } from './parallel-parts.ts'

// Parents, not file order, decide what belongs together. A damaged chain is repaired, never cut: if a parent is missing or would close a
// cycle, the line before takes its place. So every walk ends, and no message after a damaged line is lost.

export interface ChainWarning {
  readonly kind: 'missing-parent' | 'cycle'
  /** The entry whose parent could not be followed. */
  readonly entry: EntryId
  readonly parent: EntryId
}

export interface EntryChain {
  /** Oldest first. */
  readonly entries: readonly Entry[]
  readonly warnings: readonly ChainWarning[]
}

/** The entries from the first to `leaf`; without a leaf, to the newest. `entries` are a whole file in its order. */
export function chainOf(entries: readonly Entry[], leaf?: EntryId): EntryChain {
  return chainBy(entries, entries.map(linkOf), leaf)
}

/** The newest chain of entries that we wrote ourselves: entries outside it never belong to it, whatever calls they answer. */
export function ownChainOf(entries: readonly Entry[]): readonly Entry[] {
  const links = entries.map((entry): ChainLink => {
    const { calls: _calls, answers: _answers, responseId: _response, ...link } = linkOf(entry)
    return link
  })
  return chainBy(entries, links, undefined).entries
}

function chainBy(
  entries: readonly Entry[],
  links: readonly ChainLink[],
  leaf: EntryId | undefined,
): EntryChain {
  const end = leaf === undefined ? newestLeaf(links) : links.findLastIndex((link) => link.id === leaf)
  if (end === undefined || end === -1) return { entries: [], warnings: [] }
  const walk = walkChain(links, end)
  return { entries: walk.places.flatMap((place) => entries[place] ?? []), warnings: walk.warnings }
}

/**
 * Where the newest branch ends. The last line of a kind that we know is the end, since a single appender writes one line after the
 * other. Lines of unknown kinds may come later from elsewhere, so they count only as far as they follow it.
 */
export function newestLeaf(links: readonly ChainLink[]): number | undefined {
  const firstPlaces = placesById(links)
  // A line that repeats an earlier one is not new, wherever it is.
  const isMain = (link: ChainLink, place: number): boolean =>
    !link.sidechain && !isLoose(link) && firstPlaces.get(link.id) === place
  const known = links.findLastIndex((link, place) => isMain(link, place) && link.kind !== 'other')
  const last = known === -1 ? links.findLastIndex(isMain) : known
  // An agent's file may be a sidechain throughout.
  const start = last === -1 ? links.findLastIndex((link) => !isLoose(link)) : last
  if (start === -1) return undefined
  let leaf = start
  for (let place = start + 1; place < links.length; place++) {
    const link = links[place]
    if (link && !link.sidechain && link.parent === links[leaf]?.id) leaf = place
  }
  return leaf
}

export interface ChainWalk {
  /** Indexes into the links, oldest first. */
  readonly places: readonly number[]
  readonly warnings: readonly ChainWarning[]
  /** For partial links only: the chain continues before them, with this entry. Null: with the line before. */
  readonly open?: { readonly parent: EntryId | null }
}

/** `partial`: the links are only the end of a file, so a parent that is not among them may come before them. */
export function walkChain(links: readonly ChainLink[], leaf: number, partial = false): ChainWalk {
  const firstPlaces = placesById(links)
  const side = links[leaf]?.sidechain === true
  const seen = new Set<number>()
  const warnings: ChainWarning[] = []
  let open: ChainWalk['open']
  let place: number | undefined = leaf
  while (place !== undefined) {
    const link: ChainLink | undefined = links[place]
    if (!link || (side && !link.sidechain)) break
    seen.add(place)
    const wanted = parentOf(link)
    if (wanted === undefined) break
    const found: number | undefined = wanted === null ? undefined : firstPlaces.get(wanted)
    if (found !== undefined && !seen.has(found)) {
      place = found
      continue
    }
    const before: number | undefined =
      partial && found === undefined ? undefined : lineBefore(links, place, seen)
    if (partial && before === undefined) open = { parent: wanted }
    if (!open && link.parent !== null) warnings.push(warningFor(link, link.parent, found))
    place = before
  }
  const walked = [...seen].toReversed().filter((at) => (links[at]?.sidechain === true) === side)
  return { places: withParallelParts(links, walked), warnings, ...(open && { open }) }
}

function warningFor(link: ChainLink, parent: EntryId, found: number | undefined): ChainWarning {
  return { kind: found === undefined ? 'missing-parent' : 'cycle', entry: link.id, parent }
}

/** Null: a boundary that names no line before it. Undefined: the first of its chain. */
export function parentOf(link: ChainLink): EntryId | null | undefined {
  if (link.parent !== null) return link.parent
  return link.kind === 'boundary' ? (link.logicalParent ?? null) : undefined
}

/** If a file repeats lines, the first line with an id counts. */
function placesById(links: readonly ChainLink[]): ReadonlyMap<EntryId, number> {
  const places = new Map<EntryId, number>()
  for (const [place, link] of links.entries()) if (!places.has(link.id)) places.set(link.id, place)
  return places
}

function lineBefore(
  links: readonly ChainLink[],
  place: number,
  seen: ReadonlySet<number>,
): number | undefined {
  const side = links[place]?.sidechain === true
  for (let before = place - 1; before >= 0; before--) {
    const link = links[before]
    if (link && !seen.has(before) && !isLoose(link) && (link.sidechain === true) === side) return before
  }
  return undefined
}
