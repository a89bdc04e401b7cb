import type { Ttl } from '../ledger/cache.ts'
import type { Ports } from '../ports.ts'
import type { View } from '../transcript/view.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import type { CacheLifetimes } from './build-request.ts'
import { boughtLifetime, chooseLifetime } from './choose-lifetime.ts'

/** The default for requests of the agent: system prompt and tools outlast a pause, and every request renews the conversation. */
export const CACHE_LIFETIMES: CacheLifetimes = { system: '1h', messages: '5m' }

export interface CacheWishes {
  readonly lifetime?: 'auto' | Ttl
}

/** For the requests of one turn. Breakpoints are not part of the prefix: another lifetime changes no byte that counts. */
export function lifetimesFor(
  { lifetime: wanted }: CacheWishes = {},
  { log }: View,
  { prices }: ModelFacts,
  { flags, trace }: Pick<Ports, 'flags' | 'trace'>,
): CacheLifetimes {
  if (wanted === '5m') return { system: '5m', messages: '5m' }
  if (wanted === '1h') return { system: '1h', messages: '1h' }
  if (!flags.value('cache-hour')) return CACHE_LIFETIMES
  const { lifetime, ...numbers } = chooseLifetime(log, { prices })
  trace({ name: 'lifetime', reason: lifetime, ...numbers })
  return { ...CACHE_LIFETIMES, messages: lifetime }
}

/** What the last request with a known lifetime bought for the messages. */
export function lastBought({ nodes }: View): Ttl {
  const told = nodes.flatMap(({ source }) => (source.usage ? (boughtLifetime(source.usage) ?? []) : []))
  return told.at(-1) ?? CACHE_LIFETIMES.messages
}
