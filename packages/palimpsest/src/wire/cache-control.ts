/** A breakpoint: the provider's cache keeps the prefix up to here, for five minutes by default or for an hour. */
export interface CacheControl {
  readonly type: 'ephemeral'
  readonly ttl?: '5m' | '1h'
}
