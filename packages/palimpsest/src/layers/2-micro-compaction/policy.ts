// Numbers of micro-compaction, in a full-size window. Each is a setting; smaller windows scale the sizes.

export interface MicroPolicy {
  /** How many of the newest results a clearing leaves alone. */
  readonly keepNewest: number
  /** The same after a pause of less than an hour: such pauses are common, and the work continues where it was. */
  readonly keepAfterShortPause: number
  readonly clearing?: ClearingWishes | undefined
  /** Size of the newest part, as a share of a full window, whose results a batch leaves alone: most of what is needed again is there. */
  readonly keepShare: number
  /**
   * Share of cleared results that we expect to be fetched again, at a price that is part of the sum. 1: clearing must pay even if all are.
   */
  readonly refetchShare: number
  /** A result that is not larger is not worth a stand-in. */
  readonly resultTokensMin: number
  /** An edit that frees a smaller share of the view is not worth its rewrite. */
  readonly freedShareMin: number
  /** An edit made because the window fills must bring it down to this share of the automatic threshold; otherwise it only postpones. */
  readonly targetShare: number
  /** Longest digest, in characters. */
  readonly digestChars: number
  /** Upper bound for the requests that a conversation is expected to continue for. */
  readonly requestsAheadMax: number
  /** Which mechanisms may act. */
  readonly acts: MicroActs
}

/** The user's settings for clearing after a pause. */
export interface ClearingWishes {
  /** A shorter pause clears nothing, even if the cache has expired. Absent: the lifetime that was bought decides. */
  readonly gapMinutes?: number | undefined
  /** How many results stay after any pause. Absent: it depends on the pause. */
  readonly keepResults?: number | undefined
}

export interface MicroActs {
  readonly cold: boolean
  readonly batch: boolean
  readonly pays: boolean
  readonly snip: boolean
  readonly media: boolean
  readonly digest: boolean
}

export const MICRO_POLICY: MicroPolicy = {
  keepNewest: 5,
  keepAfterShortPause: 15,
  keepShare: 0.3,
  refetchShare: 1,
  resultTokensMin: 500,
  freedShareMin: 0.1,
  targetShare: 0.5,
  digestChars: 1_200,
  requestsAheadMax: 200,
  acts: { cold: true, batch: true, pays: true, snip: true, media: true, digest: true },
}

/** On recorded sessions a digest of full length pays down to half of the full-size window, and no longer at three tenths. */
const LONG_DIGEST_SCALE = 0.5
const SHORT_DIGEST_SCALE = 0.3
const SHORT_DIGEST_CHARS = 600

export function microPolicy(scale: number, clearing?: ClearingWishes): MicroPolicy {
  return {
    ...MICRO_POLICY,
    clearing,
    resultTokensMin: Math.round(MICRO_POLICY.resultTokensMin * scale),
    digestChars: digestChars(scale),
  }
}

function digestChars(scale: number): number {
  const short = SHORT_DIGEST_CHARS * scale
  const length = (scale - SHORT_DIGEST_SCALE) / (LONG_DIGEST_SCALE - SHORT_DIGEST_SCALE)
  return Math.round(short + (MICRO_POLICY.digestChars - short) * Math.min(1, Math.max(0, length)))
}
