import { BREAKPOINTS_MAX, TTL_MS, type Ttl } from '../ledger/cache.ts'
import type { CacheControl } from '../wire/cache-control.ts'
import { controlOf, type BlockMark } from './block-marks.ts'

// Breakpoints of a request, the owner's and ours. The owner's stay where they are; ours take what is left of the four that the API accepts.

/** Where a block is: in tools, system or messages; which of the sent messages; which block in it. */
export interface MarkPlace {
  readonly level: 0 | 1 | 2
  readonly message: number
  readonly block: number
}

export interface Mark {
  readonly place: MarkPlace
  readonly control: CacheControl
}

/** A breakpoint that the owner set on a message, by the message's place in the owner's history. */
export interface OwnerMark extends BlockMark {
  readonly message: number
}

/** The breakpoints of `tools` or `system`. */
export function marksInList(level: 0 | 1, list: unknown): readonly Mark[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((item: unknown, block) => {
    const control = controlOf(item)
    return control ? [{ place: { level, message: 0, block }, control }] : []
  })
}

/** A breakpoint that we would like to set. In a list, the most useful comes first. */
export interface WantedMark {
  readonly place: MarkPlace
  readonly ttl: Ttl
}

/**
 * The owner's, and as many of ours as there is room for. Lifetimes never rise along a request: one of ours before a longer one of the
 * owner's lasts as long, and one after a shorter one no longer. `used`: breakpoints that are on no block.
 */
export function allMarks(
  owners: readonly Mark[],
  wanted: readonly WantedMark[],
  used: number,
): readonly Mark[] {
  const his = owners.slice(-(BREAKPOINTS_MAX - used))
  const free = wanted.filter(({ place }) => !his.some((mark) => compare(mark.place, place) === 0))
  const ours = free
    .slice(0, Math.max(0, BREAKPOINTS_MAX - used - his.length))
    .map(({ place, ttl }) => ({ place, control: controlFor(fittingTtl(place, ttl, his)) }))
  return [...his, ...ours]
}

function fittingTtl(place: MarkPlace, ttl: Ttl, owners: readonly Mark[]): Ttl {
  const lasting = (isThere: (order: number) => boolean): readonly number[] =>
    owners.flatMap((mark) => (isThere(compare(mark.place, place)) ? [TTL_MS[mark.control.ttl ?? '5m']] : []))
  if (lasting((order) => order > 0).some((ms) => ms > TTL_MS[ttl])) return '1h'
  return lasting((order) => order < 0).some((ms) => ms < TTL_MS[ttl]) ? '5m' : ttl
}

function controlFor(ttl: Ttl): CacheControl {
  return ttl === '5m' ? { type: 'ephemeral' } : { type: 'ephemeral', ttl }
}

function compare(a: MarkPlace, b: MarkPlace): number {
  return a.level - b.level || a.message - b.message || a.block - b.block
}
