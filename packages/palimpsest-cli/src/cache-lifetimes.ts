import type { CacheLifetimes } from 'palimpsest/engine'

/** What is bought for requests of the agent: system prompt and tools outlast a pause, the conversation is renewed with every request. */
export const CACHE_LIFETIMES: CacheLifetimes = { system: '1h', messages: '5m' }
