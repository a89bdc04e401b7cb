import { invalid, type RuleSet } from './rule.ts'

const CACHING = 'prompt caching reference'

export const CACHING_RULES = {
  'caching.type': invalid("{path}.cache_control.type: Input should be 'ephemeral'", 'schema', 'observed'),
  'caching.ttl': invalid("{path}.cache_control.ttl: Input should be '5m' or '1h'", 'schema', 'observed'),
  'caching.breakpoints-over': invalid(
    'A maximum of 4 blocks with cache_control may be provided. Found {count}.',
    CACHING,
    'observed',
  ),
  'caching.empty-text': invalid(
    '{path}.text: cache_control cannot be set for empty text blocks',
    CACHING,
    'observed',
  ),
  'caching.ttl-order': invalid(
    "{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
    CACHING,
    'observed',
  ),
  'caching.automatic-ttl': invalid(
    'cache_control.ttl: the last cacheable block already has cache_control with a different ttl',
    `${CACHING}, automatic caching`,
    'documented',
  ),
  'cache-edits.reference': invalid(
    '{path}: cache_reference {reference} names no tool result of this conversation',
    'only in the simulator',
    'unknown',
    { switch: 'cacheEdits' },
  ),
  'cache-edits.twice': invalid(
    '{path}: cache_reference {reference} is deleted twice',
    'only in the simulator',
    'unknown',
    { switch: 'cacheEdits' },
  ),
} as const satisfies RuleSet
