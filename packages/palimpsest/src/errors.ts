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
