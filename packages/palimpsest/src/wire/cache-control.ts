/** A breakpoint: the prefix up to here is written to the provider's cache, for five minutes unless an hour is bought. */
export interface CacheControl {
  readonly type: 'ephemeral'
  readonly ttl?: '5m' | '1h'
}
