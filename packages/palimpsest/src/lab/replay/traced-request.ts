import type { CacheExplanation } from '../../ledger/explain.ts'

/** A request of a replay that was charged, in figures. */
export interface TracedRequest {
  readonly step: number
  readonly promptTokens: number
  /** What the strategy did to earlier messages before it. */
  readonly act: Act
  readonly readTokens: number
  readonly writtenTokens: number
  readonly uncachedTokens: number
  readonly outputTokens: number
  /** Why less was read than the request before had put into the cache. */
  readonly explanation: CacheExplanation
  /** How long before it the newest answer had begun, where that is longer than what was cached lives; else 0. */
  readonly idleMs: number
  readonly dollars: number
  /** Of the strategy's own model calls. */
  readonly callDollars: number
}

/** A compaction puts a boundary, after which the view begins again; an edit clears or drops messages one by one. */
export type Act = 'none' | 'edit' | 'compaction'
