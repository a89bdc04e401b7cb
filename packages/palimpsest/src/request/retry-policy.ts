import type { ProviderFailure } from '../errors.ts'

// What is asked again, how often, and after what wait. One rule for all who ask; who asks decides about the numbers.

export interface RetryPolicy {
  /** Attempts for one request, the first included, by what went wrong. What is left out is no better later. */
  readonly attempts: { readonly [K in ProviderFailure['kind']]?: number }
  readonly firstWaitMs: number
  readonly waitMsMax: number
  /** Waits are shortened by up to this share, so that many clients do not come back at once. */
  readonly spread: number
  /** A provider may ask for patience, but not for more than this. */
  readonly retryAfterMsMax: number
  /** What is done where it does. */
  readonly overLong: 'give-up' | 'come-sooner'
}

/** For an answer that somebody waits for: about two minutes of waiting. */
export const TURN_RETRIES: RetryPolicy = {
  attempts: {
    'rate-limited': 8,
    overloaded: 8,
    transport: 8,
    // An answer that is garbage is seldom better later.
    'bad-output': 3,
    // A server on this machine that is being started again is there within a second or two, or not at all.
    unreachable: 3,
    // Each attempt waited for minutes already.
    stalled: 2,
  },
  firstWaitMs: 500,
  waitMsMax: 32_000,
  spread: 0.25,
  retryAfterMsMax: 300_000,
  overLong: 'give-up',
}

/** For a summary: the next step of the chain is there, so it is not asked for long. */
export const SUMMARY_RETRIES: RetryPolicy = {
  attempts: { 'rate-limited': 3, overloaded: 3, transport: 3, 'bad-output': 3 },
  firstWaitMs: 2_000,
  waitMsMax: 30_000,
  spread: 0,
  retryAfterMsMax: 30_000,
  overLong: 'come-sooner',
}

/** How long to wait before attempt number `attempt + 1`; undefined where asking again is no use. */
export function retryWaitMs(
  failure: ProviderFailure,
  attempt: number,
  policy: RetryPolicy,
  random = 0,
): number | undefined {
  if (attempt >= (policy.attempts[failure.kind] ?? 0)) return undefined
  const asked = 'retryAfterMs' in failure ? failure.retryAfterMs : undefined
  if (asked === undefined) {
    const wait = Math.min(policy.firstWaitMs * 2 ** (attempt - 1), policy.waitMsMax)
    return Math.round(wait * (1 - policy.spread * random))
  }
  if (asked <= policy.retryAfterMsMax) return asked
  return policy.overLong === 'give-up' ? undefined : policy.retryAfterMsMax
}
