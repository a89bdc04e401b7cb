import { describe, expect, test } from 'vitest'
import type { MessagesRequest } from '../wire/request.ts'
import { chargeRequest, createCache, publishWrites, type Cache, type CacheRequest } from './cache.ts'
import { explainCharge, type CacheExplanation } from './explain.ts'
import { promptOf } from './request-prompt.ts'

const MINUTE = 60_000
/** One token per character, so that the sizes below can be read off. */
const BIG = 'x'.repeat(2_000)

function requestOf(body: Partial<MessagesRequest>, at: number): CacheRequest {
  const request = { model: 'm', max_tokens: 1, messages: [], ...body }
  const { prompt, breakpoints } = promptOf(request, [], ({ value }) => sizeOf(value))
  return { at, prompt, breakpoints, minimumTokens: 1_000 }
}

function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null && 'text' in value ? String(value.text).length : 1
}

/** What is said of `second` after `first` was sent and answered at once. */
function explain(
  first: Partial<MessagesRequest>,
  second: Partial<MessagesRequest>,
  at = MINUTE,
): CacheExplanation {
  const cache = createCache()
  const earlier = requestOf(first, 0)
  publishWrites(cache, chargeRequest(cache, earlier), 0)
  return explainIn(cache, requestOf(second, at), earlier)
}

function explainIn(cache: Cache, request: CacheRequest, earlier: CacheRequest | undefined): CacheExplanation {
  return explainCharge(cache, request, chargeRequest(cache, request), earlier)
}

const base: Partial<MessagesRequest> = {
  cache_control: { type: 'ephemeral' },
  system: BIG,
  messages: [{ role: 'user', content: 'hi' }],
}

describe('explanations of a charge', () => {
  test('a request that reads everything that was cached is a hit', () => {
    expect(explain(base, base)).toEqual({ kind: 'hit', path: 'messages.0.content.0' })
  })

  test('a changed position is named, together with what it lost', () => {
    expect(explain(base, { ...base, system: `${BIG}y` })).toEqual({
      kind: 'changed',
      path: 'system.0',
      lostTokens: 2_002,
    })
    expect(explain(base, { ...base, messages: [{ role: 'user', content: 'ho' }] })).toEqual({
      kind: 'changed',
      path: 'messages.0.content.0',
      lostTokens: 2_002,
    })
  })

  test('a changed part of the key is named instead of the position', () => {
    expect(explain(base, { ...base, model: 'other' })).toMatchObject({ kind: 'changed', path: 'model' })
    expect(explain(base, { ...base, thinking: { type: 'adaptive' } })).toMatchObject({
      kind: 'changed',
      path: 'thinking',
    })
  })

  test('an expired entry says when it expired', () => {
    expect(explain(base, base, 7 * MINUTE)).toEqual({
      kind: 'expired',
      path: 'messages.0.content.0',
      expiredMsAgo: 2 * MINUTE,
      lostTokens: 2_002,
    })
  })

  test('an entry out of reach says how far away it is', () => {
    const many = Array.from({ length: 25 }, (_, i) => ({ type: 'text', text: `b${i}` }) as const)
    const longer: Partial<MessagesRequest> = {
      ...base,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: many },
        { role: 'user', content: 'on' },
      ],
    }
    // the entry stands at position 1, the breakpoint at position 27
    expect(explain(base, longer)).toEqual({
      kind: 'lookback',
      path: 'messages.0.content.0',
      positionsBetween: 26,
      lostTokens: 2_002,
    })
  })

  test('an entry whose answer has not begun is not yet readable', () => {
    const cache = createCache()
    const earlier = requestOf(base, 0)
    publishWrites(cache, chargeRequest(cache, earlier), 5_000)
    expect(explainIn(cache, requestOf(base, 1_000), earlier)).toMatchObject({ kind: 'unreadable' })
  })

  test('an earlier request that was never answered left nothing', () => {
    const cache = createCache()
    const earlier = requestOf(base, 0)
    chargeRequest(cache, earlier)
    expect(explainIn(cache, requestOf(base, 1), earlier)).toEqual({
      kind: 'unwritten',
      path: 'messages.0.content.0',
    })
  })

  test('without an earlier request, a breakpoint or enough tokens there is nothing to lose', () => {
    const cache = createCache()
    expect(explainIn(cache, requestOf(base, 0), undefined)).toEqual({ kind: 'first' })
    const { cache_control: _, ...unmarked } = base
    expect(explainIn(cache, requestOf(unmarked, 0), undefined)).toEqual({ kind: 'no-breakpoint' })
    const short = { ...base, system: 'short' }
    expect(explainIn(cache, requestOf(short, 0), undefined)).toEqual({
      kind: 'minimum',
      tokens: 7,
      minimumTokens: 1_000,
    })
  })
})
