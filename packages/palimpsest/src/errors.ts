// Errors, sorted by who must act. Each message says how to fix the problem.

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

/** The disk, or whoever owns it, must act. The layer that meets this error degrades and writes a trace. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
  readonly failure: StorageFailure
  constructor(failure: StorageFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}

/** We must act: the library broke a promise of `docs/invariants.md`. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
  readonly invariant: string
  constructor(invariant: string, message: string, options?: ErrorOptions) {
    super(`(${invariant}) ${message}`, options)
    this.invariant = invariant
  }
}

export type ProviderFailure =
  /** The prompt does not fit. The limit and the sizes are passed on if the error names them. */
  | {
      readonly kind: 'context-overflow'
      readonly limit?: number | undefined
      readonly used?: number | undefined
      readonly excess?: number | undefined
      /** The prompt alone would have fit; prompt and requested answer together did not. */
      readonly outputDecides?: true | undefined
    }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs?: number }
  /** `code`: the provider's own code for the failure, if it sends one. */
  | { readonly kind: 'overloaded'; readonly retryAfterMs?: number; readonly code?: string }
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'invalid-request'; readonly status: number; readonly code?: string }
  /** No answer, a cut stream, or a fault of the server. */
  | { readonly kind: 'transport'; readonly retryAfterMs?: number }
  /** Nothing arrived for so long that waiting again is unlikely to help. */
  | { readonly kind: 'stalled' }
  /** Nothing listens at this address on this machine. The server may still be starting. */
  | { readonly kind: 'unreachable' }
  /** This address can never answer: its port is blocked, its certificate is not trusted, or it speaks another protocol. */
  | { readonly kind: 'unusable-address' }
  /** The answer is not a valid one: HTML, garbage, events in an impossible order. */
  | { readonly kind: 'bad-output' }
  /** A dollar limit does not allow the request; nothing was sent. */
  | {
      readonly kind: 'over-budget'
      readonly neededUsd: number
      readonly leftUsd: number
      readonly limit?: SpendingLimit | undefined
    }
  /** The answer is larger than we read, or takes longer than we wait. The next one would too. */
  | { readonly kind: 'over-limit' }

/** A dollar limit that the host keeps, in addition to the session's own. */
export interface SpendingLimit {
  /** The name, as the user set it. */
  readonly name: string
  readonly maxUsd: number
  /** Reserved for other requests that are in progress. */
  readonly heldUsd: number
}

/** The provider must act, or we must ask again. Adapters translate into this error; no other code looks at an SDK's errors. */
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
