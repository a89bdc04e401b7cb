import type { ProviderFailure } from '../errors.ts'

// What is asked again, how often, and after what wait. One rule for every caller; the caller sets the numbers.

export interface RetryPolicy {
  /**
   * Attempts for one request, including the first, by what went wrong. A kind that is absent is not retried: it would be no better later.
   */
  readonly attempts: { readonly [K in ProviderFailure['kind']]?: number }
  readonly firstWaitMs: number
  readonly waitMsMax: number
  /** Waits are shortened by up to this share, so that many clients do not return at once. */
  readonly spread: number
  /** Longest wait that we accept if the provider asks for one. */
  readonly retryAfterMsMax: number
  /** What to do if it asks for more. */
  readonly overLong: 'give-up' | 'come-sooner'
}

/** For an answer that someone waits for: about two minutes of waiting. */
export const TURN_RETRIES: RetryPolicy = {
  attempts: {
    'rate-limited': 8,
    overloaded: 8,
    transport: 8,
    // A garbled answer is seldom better later.
    'bad-output': 3,
    // A local server that is restarting is back within a second or two, or not at all.
    unreachable: 3,
    // Each attempt has already waited for minutes.
    stalled: 2,
  },
  firstWaitMs: 500,
  waitMsMax: 32_000,
  spread: 0.25,
  retryAfterMsMax: 300_000,
  overLong: 'give-up',
}

/** For a summary: the chain has a next step, so there are few attempts. */
export const SUMMARY_RETRIES: RetryPolicy = {
  attempts: { 'rate-limited': 3, overloaded: 3, transport: 3, 'bad-output': 3 },
  firstWaitMs: 2_000,
  waitMsMax: 30_000,
  spread: 0,
  retryAfterMsMax: 30_000,
  overLong: 'come-sooner',
}

/** How long to wait before attempt number `attempt + 1`; undefined if asking again is no use. */
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
