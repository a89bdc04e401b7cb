import type { CacheExplanation } from '../../ledger/explain.ts'

/** The figures of one charged request of a replay. */
export interface TracedRequest {
  readonly step: number
  readonly promptTokens: number
  /** What the strategy did to earlier messages before this request. */
  readonly act: Act
  readonly readTokens: number
  readonly writtenTokens: number
  readonly uncachedTokens: number
  readonly outputTokens: number
  /** Why it read less than the request before had put into the cache. */
  readonly explanation: CacheExplanation
  /** Milliseconds since the newest answer began, if that is longer than the cache lifetime; otherwise 0. */
  readonly idleMs: number
  readonly dollars: number
  /** Dollars of the strategy's own model calls. */
  readonly callDollars: number
}

/** A compaction adds a boundary, where the view begins again; an edit clears or drops single messages. */
export type Act = 'none' | 'edit' | 'compaction'
