// Numbers of micro-compaction, in a full-size window. Each is a setting; smaller windows scale the sizes.

export interface MicroPolicy {
  /** Results that a clearing leaves alone, the newest. */
  readonly keepNewest: number
  /** The same after a pause of less than an hour: such pauses are common, and the work goes on where it was. */
  readonly keepAfterShortPause: number
  readonly clearing?: ClearingWishes | undefined
  /** The newest part of the window, as a share of it, whose results a batch leaves: most of what is needed again lies there. */
  readonly keepShare: number
  /** How often a cleared result is taken to be fetched again: its price is part of the sum. 1: clearing must pay even then. */
  readonly refetchShare: number
  /** A smaller result is not worth a stand-in. */
  readonly resultTokensMin: number
  /** An edit that frees less of the view is not worth its rewrite. */
  readonly freedShareMin: number
  /** An edit made because the window fills must bring it down to this share of the automatic threshold, else it only postpones. */
  readonly targetShare: number
  /** Characters of a digest. */
  readonly digestChars: number
  /** The most requests that a conversation is expected to go on for. */
  readonly requestsAheadMax: number
  /** Which mechanisms may act. */
  readonly acts: MicroActs
}

/** What the user wishes of clearing after a pause; handed on whole. */
export interface ClearingWishes {
  /** A pause that is shorter clears nothing, even where the cache has expired. Left out: the lifetime that was bought decides. */
  readonly gapMinutes?: number | undefined
  /** Results that stay after any pause. Left out: it depends on the pause. */
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

/** On recorded sessions a digest is worth its full length down to half of the full-size window, and nothing at three tenths. */
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
