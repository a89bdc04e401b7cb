import { isReadable, LOOKBACK_POSITIONS, type Cache, type CacheCharge, type CacheRequest } from './cache.ts'
import { commonPositions, LEVELS, type PromptPosition } from './prompt.ts'

// Why a request read less than the previous request had put into the cache.

export type CacheExplanation =
  | { readonly kind: 'first' }
  /** Everything that the earlier request had cached was read. */
  | { readonly kind: 'hit'; readonly path: string }
  /** A position differs. `path` names it, or the changed part of the key (`model`, `thinking`, …). */
  | { readonly kind: 'changed'; readonly path: string; readonly lostTokens: number }
  | {
      readonly kind: 'expired'
      readonly path: string
      readonly expiredMsAgo: number
      readonly lostTokens: number
    }
  /** The entry exists, but no breakpoint of this request is close enough to find it. */
  | {
      readonly kind: 'lookback'
      readonly path: string
      readonly positionsBetween: number
      readonly lostTokens: number
    }
  /** The earlier response had not begun when this request started. */
  | { readonly kind: 'unreadable'; readonly path: string; readonly lostTokens: number }
  | { readonly kind: 'minimum'; readonly tokens: number; readonly minimumTokens: number }
  | { readonly kind: 'no-breakpoint' }
  /** The earlier request left no entry in the part that the two share. */
  | { readonly kind: 'unwritten'; readonly path: string }

/** Explains the `charge` of `request` by comparing it with an earlier request of the same conversation. */
export function explainCharge(
  cache: Cache,
  request: CacheRequest,
  charge: CacheCharge,
  earlier: CacheRequest | undefined,
): CacheExplanation {
  if (request.breakpoints.length === 0) return { kind: 'no-breakpoint' }
  if (!earlier)
    return charge.readIndex >= 0
      ? hitAt(request, charge.readIndex)
      : (belowMinimum(request) ?? { kind: 'first' })
  const cachedEnd = earlier.breakpoints.findLast(
    ({ index }) => (earlier.prompt.positions[index]?.tokens ?? 0) >= earlier.minimumTokens,
  )?.index
  if (cachedEnd === undefined)
    return charge.readIndex >= 0 ? hitAt(request, charge.readIndex) : minimumOf(request, earlier)
  const wanted = earlier.prompt.positions[cachedEnd]?.tokens ?? 0
  const lostTokens = wanted - charge.read
  if (charge.readIndex >= cachedEnd || lostTokens <= 0) return hitAt(request, charge.readIndex)
  const common = commonPositions(request.prompt, earlier.prompt)
  if (common <= cachedEnd) return { kind: 'changed', path: changedPath(request, earlier, common), lostTokens }
  return explainLost(cache, request, cachedEnd, lostTokens)
}

/** The end of the earlier request is in this prompt, unchanged, but was not read. */
function explainLost(
  cache: Cache,
  request: CacheRequest,
  cachedEnd: number,
  lostTokens: number,
): CacheExplanation {
  const position = request.prompt.positions[cachedEnd]
  const path = position?.path ?? ''
  const entry = position ? cache.entries.get(position.hash) : undefined
  if (!entry) return { kind: 'unwritten', path }
  if (request.at >= entry.expiresAt)
    return { kind: 'expired', path, expiredMsAgo: request.at - entry.expiresAt, lostTokens }
  if (!isReadable(entry, request.at)) return { kind: 'unreadable', path, lostTokens }
  const next = request.breakpoints.find(({ index }) => index >= cachedEnd)?.index
  const positionsBetween = (next ?? request.prompt.positions.length - 1) - cachedEnd
  return positionsBetween >= LOOKBACK_POSITIONS || next === undefined
    ? { kind: 'lookback', path, positionsBetween, lostTokens }
    : { kind: 'unwritten', path }
}

function changedPath(request: CacheRequest, earlier: CacheRequest, common: number): string {
  const [now, before] = [request.prompt.positions[common], earlier.prompt.positions[common]]
  // If one of them has no more positions of a level, the other has the position that was added or removed.
  const first = !now || (before && levelOf(before) < levelOf(now)) ? before : now
  const levelReached = first ? levelOf(first) : LEVELS.length - 1
  for (const level of LEVELS.slice(0, levelReached + 1)) {
    const had = earlier.prompt.key[level]
    const has = request.prompt.key[level]
    const name = [...new Set([...Object.keys(had), ...Object.keys(has)])].find((key) => had[key] !== has[key])
    if (name !== undefined) return name
  }
  return first?.path ?? 'end'
}

function levelOf({ level }: PromptPosition): number {
  return LEVELS.indexOf(level)
}

function hitAt(request: CacheRequest, index: number): CacheExplanation {
  return { kind: 'hit', path: request.prompt.positions[index]?.path ?? '' }
}

function belowMinimum(request: CacheRequest): CacheExplanation | undefined {
  const end = request.breakpoints.at(-1)?.index ?? -1
  const tokens = request.prompt.positions[end]?.tokens ?? 0
  return tokens < request.minimumTokens
    ? { kind: 'minimum', tokens, minimumTokens: request.minimumTokens }
    : undefined
}

function minimumOf(request: CacheRequest, earlier: CacheRequest): CacheExplanation {
  return belowMinimum(earlier) ?? belowMinimum(request) ?? { kind: 'no-breakpoint' }
}
