import type { Ttl } from '../ledger/cache.ts'
import { withMember, type JsonText } from '../wire/json.ts'
import type { CacheControl } from '../wire/message.ts'

/** A block with a breakpoint as its last member. */
export function withBreakpoint(block: JsonText, ttl: Ttl): JsonText {
  return withMember(block, NAME, controlText(ttl))
}

/** The characters that `withBreakpoint` puts before the closing brace of a block that has members. */
export function breakpointMember(ttl: Ttl): string {
  return `,"${NAME}":${controlText(ttl)}`
}

const NAME = 'cache_control'

function controlText(ttl: Ttl): JsonText {
  const control: CacheControl = ttl === '5m' ? { type: 'ephemeral' } : { type: 'ephemeral', ttl }
  return JSON.stringify(control)
}
