import type { Cache, CacheCharge, CacheRequest } from '../../../ledger/cache.ts'
import { explainCharge, type CacheExplanation } from '../../../ledger/explain.ts'
import { commonPositions } from '../../../ledger/prompt.ts'
import type { Hash } from '../../../wire/hash.ts'
import type { CacheMissReason } from '../../../wire/response.ts'

// What earlier requests had, so that comparing a new one with them costs only what is new in it.

/** Limits: positions of requests kept for explanations, hashes kept for common prefixes, and conversations. */
const POSITIONS_MAX = 500_000
const OWNERS_MAX = 4_000_000
const LANES_MAX = 100_000

export interface EarlierRequests {
  /** The request that first had the position with this cumulative hash. */
  readonly owners: Map<Hash, string>
  readonly requests: Map<string, CacheRequest>
  /** The newest request with breakpoints of every conversation, as far as conversations can be told apart. */
  readonly newest: Map<string, string>
  /** Requests by the id of their response, for `diagnostics.previous_message_id`. */
  readonly byMessage: Map<string, string>
  positions: number
}

export function createEarlierRequests(): EarlierRequests {
  return { owners: new Map(), requests: new Map(), newest: new Map(), byMessage: new Map(), positions: 0 }
}

export interface CommonPrefix {
  readonly tokens: number
  readonly of: string | null
}

/** The longest prefix shared with any earlier request. Hashes are cumulative, so binary search finds it. */
export function findCommonPrefix({ owners }: EarlierRequests, { prompt }: CacheRequest): CommonPrefix {
  let low = 0
  let high = prompt.positions.length
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (owners.has(prompt.positions[middle - 1]?.hash ?? '')) low = middle
    else high = middle - 1
  }
  const last = prompt.positions[low - 1]
  return { tokens: last?.tokens ?? 0, of: last ? (owners.get(last.hash) ?? null) : null }
}

/**
 * The request that a new one continues: the newest of its conversation, unless another shares more with it. The first request with the
 * longest common prefix would be wrong: after an edit right at the end of that prefix, it would seem that nothing was lost.
 */
export function findPredecessor(
  earlier: EarlierRequests,
  request: CacheRequest,
  lane: string,
  common: CommonPrefix,
): string | null {
  const newest = earlier.newest.get(lane)
  const held = newest === undefined ? undefined : earlier.requests.get(newest)
  if (newest === undefined || !held) return common.of
  const shared = commonPositions(request.prompt, held.prompt)
  return (request.prompt.positions[shared - 1]?.tokens ?? 0) >= common.tokens ? newest : common.of
}

export function rememberRequest(
  earlier: EarlierRequests,
  id: string,
  request: CacheRequest,
  lane: string,
): void {
  if (earlier.owners.size > OWNERS_MAX) earlier.owners.clear()
  if (earlier.newest.size > LANES_MAX) earlier.newest.clear()
  if (request.breakpoints.length > 0) earlier.newest.set(lane, id)
  const { positions } = request.prompt
  for (let i = positions.length - 1; i >= 0; i--) {
    const hash = positions[i]?.hash ?? ''
    if (earlier.owners.has(hash)) break
    earlier.owners.set(hash, id)
  }
  earlier.requests.set(id, request)
  earlier.positions += positions.length
  for (const [old, held] of earlier.requests) {
    if (earlier.positions <= POSITIONS_MAX || old === id) break
    earlier.requests.delete(old)
    earlier.positions -= held.prompt.positions.length
  }
}

/** Why the charge reads what it reads. Null if the request to compare with is no longer stored. */
export function explainAgainst(
  { requests }: EarlierRequests,
  cache: Cache,
  request: CacheRequest,
  compared: { readonly charge: CacheCharge; readonly with: string | null },
): CacheExplanation | null {
  if (compared.with === null) return explainCharge(cache, request, compared.charge, undefined)
  const earlier = requests.get(compared.with)
  return earlier ? explainCharge(cache, request, compared.charge, earlier) : null
}

const REASON_BY_LEVEL: { readonly [level: string]: string } = {
  model: 'model_changed',
  tools: 'tools_changed',
  betas: 'tools_changed',
  system: 'system_changed',
  speed: 'system_changed',
}

/** The API's own diagnosis, as `diagnostics` reports it; null if nothing was missed. */
export function missReason(explanation: CacheExplanation | null): CacheMissReason | null {
  if (!explanation) return { type: 'unavailable' }
  switch (explanation.kind) {
    case 'hit':
      return null
    case 'changed': {
      const type = REASON_BY_LEVEL[explanation.path.split('.')[0] ?? ''] ?? 'messages_changed'
      return { type, cache_missed_input_tokens: explanation.lostTokens }
    }
    default:
      return { type: 'unavailable' }
  }
}
