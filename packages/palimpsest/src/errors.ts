// Errors, sorted by who must act. Each text names the cure.

/** The user must act: a wrong flag, a missing key, a file of a newer version. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export type StorageFailure =
  | 'disk-full'
  | 'locked'
  | 'newer-format'
  | 'not-a-transcript'
  | 'no-permission'
  | 'not-found'
  | 'too-large'
  | 'io'

/** The disk must act, or whoever owns it. The layer that meets one degrades and traces. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
  readonly failure: StorageFailure
  constructor(failure: StorageFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}

/** We must act: a promise of `docs/invariants.md` was broken. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
  readonly invariant: string
  constructor(invariant: string, message: string, options?: ErrorOptions) {
    super(`(${invariant}) ${message}`, options)
    this.invariant = invariant
  }
}

export type ProviderFailure =
  /** The prompt does not fit. What the error names of limit and size is passed on. */
  | {
      readonly kind: 'context-overflow'
      readonly limit?: number | undefined
      readonly used?: number | undefined
      readonly excess?: number | undefined
      /** The prompt alone would have fitted: it was the answer asked for that did not. */
      readonly outputDecides?: true | undefined
    }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs?: number }
  /** The provider's own code for it goes with it, where it has one. */
  | { readonly kind: 'overloaded'; readonly retryAfterMs?: number; readonly code?: string }
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'invalid-request'; readonly status: number; readonly code?: string }
  /** No answer, a cut stream, a server's own fault. */
  | { readonly kind: 'transport'; readonly retryAfterMs?: number }
  /** Nothing came for so long that waiting again will hardly help. */
  | { readonly kind: 'stalled' }
  /** Nobody is there to be asked: nothing listens on this machine. It may be starting. */
  | { readonly kind: 'unreachable' }
  /** The address can never answer as it is: a port that is blocked, a certificate that is not trusted, another protocol. */
  | { readonly kind: 'unusable-address' }
  /** An answer that is none: HTML, garbage, events in an impossible order. */
  | { readonly kind: 'bad-output' }
  /** A limit in dollars does not allow it; nothing was sent. */
  | {
      readonly kind: 'over-budget'
      readonly neededUsd: number
      readonly leftUsd: number
      readonly limit?: SpendingLimit | undefined
    }
  /** An answer that is larger than what is read, or took longer than what is waited for. The next one would be too. */
  | { readonly kind: 'over-limit' }

/** A limit in dollars that the host keeps, where there is more than the session's own. */
export interface SpendingLimit {
  /** As the user set it. */
  readonly name: string
  readonly maxUsd: number
  /** Set aside for requests of others that are under way. */
  readonly heldUsd: number
}

/** The provider must act, or we must ask again. Adapters translate into this; nobody else looks at an SDK's errors. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly failure: ProviderFailure
  readonly requestId: string | undefined
  constructor(failure: ProviderFailure, message: string, options?: ErrorOptions & { requestId?: string }) {
    super(message, options)
    this.failure = failure
    this.requestId = options?.requestId
  }
}
