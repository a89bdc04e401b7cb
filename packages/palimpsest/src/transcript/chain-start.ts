import type { ChainLink } from './chain-link.ts'
import type { BoundaryEntry, EntryId } from './entry.ts'

// From where a chain must be read so that its view is the same as that of the whole chain: from the first message that the newest
// boundary in force keeps.

/** A link with its entry where the entry says what counts: boundaries and voids. */
export type StartLink = ChainLink & {
  readonly boundary?: BoundaryEntry
  readonly voids?: EntryId
}

export interface ChainStart {
  /** Index in the chain of the first entry to read. */
  readonly index: number
  /** The boundary to begin from. Undoing it needs what lies before. */
  readonly from: EntryId
}

/** Undefined: from the first entry on, as far as is known. */
export function findStart(chain: readonly StartLink[]): ChainStart | undefined {
  const boundaries = boundariesInForce(chain)
  const named = new Set(chain.flatMap((link) => link.voids ?? []))
  const indexById = new Map(chain.map((link, index) => [link.id, index]))
  for (const [i, { index, boundary }] of boundaries.entries()) {
    // One that was ever undone, even if that was taken back, makes the fold look further back on its way.
    if (named.has(boundary.id)) continue
    const head = boundary.kept ? indexById.get(boundary.kept.head) : index
    if (head === undefined) continue
    const first = Math.min(head, index)
    const before = boundaries[i + 1]
    const leansOnBefore = before && (before.index >= first || names(before.boundary, chain[first]?.id))
    if (!leansOnBefore) return { index: first, from: boundary.id }
  }
  return undefined
}

interface PlacedBoundary {
  readonly index: number
  readonly boundary: BoundaryEntry
}

/** Newest first: not undone, and with all the messages they name behind them. */
function boundariesInForce(chain: readonly StartLink[]): readonly PlacedBoundary[] {
  const behind = new Set<EntryId>()
  const voided = new Set<EntryId>()
  const found: PlacedBoundary[] = []
  for (let index = chain.length - 1; index >= 0; index--) {
    const link = chain[index]
    if (!link) continue
    if (link.voids !== undefined && !voided.has(link.id)) voided.add(link.voids)
    const { boundary } = link
    if (boundary && !voided.has(link.id) && isComplete(boundary, behind)) found.push({ index, boundary })
    behind.add(link.id)
  }
  return found
}

/** A crash may leave a boundary without its summary. Then it never took effect. */
function isComplete(boundary: BoundaryEntry, behind: ReadonlySet<EntryId>): boolean {
  return [...boundary.summary, ...boundary.attachments].every((id) => behind.has(id))
}

function names(boundary: BoundaryEntry, id: EntryId | undefined): boolean {
  return id !== undefined && (boundary.summary.includes(id) || boundary.attachments.includes(id))
}
