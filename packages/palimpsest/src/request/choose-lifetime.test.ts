import { expect, test } from 'vitest'

import type { Entry } from '../transcript/entry.ts'
import { findModelFacts, unknownModelFacts } from '../wire/model-facts.ts'
import { boughtLifetime, chooseLifetime } from './choose-lifetime.ts'

const MINUTE_MS = 60_000
const facts = findModelFacts('claude-opus-5') ?? unknownModelFacts('claude-opus-5')

interface Past {
  /** Before the request. */
  readonly pauseMinutes: number
  readonly tokens: number
  readonly written: number
}

function logOf(requests: readonly Past[]): Entry[] {
  let at = 1_000
  return requests.flatMap(({ pauseMinutes, tokens, written }, i): Entry[] => {
    at += pauseMinutes * MINUTE_MS
    const usage = {
      input_tokens: 0,
      output_tokens: 100,
      cache_creation_input_tokens: written,
      cache_read_input_tokens: tokens - written,
    }
    return [said(`u${i}`, at, 'user'), { ...said(`a${i}`, at + 1, 'assistant'), responseId: `r${i}`, usage }]
  })
}

function said(id: string, at: number, role: 'user' | 'assistant') {
  const message = { role, content: [] }
  const origin = role === 'user' ? 'user' : 'model'
  return { kind: 'message', id, parent: null, at, origin, message, json: JSON.stringify(message) } as const
}

/** A conversation that grows by 1,000 tokens a request, with a pause before every fifth one. */
function growing(count: number, pauseMinutes: number): Past[] {
  return Array.from({ length: count }, (_, i) => {
    const tokens = 10_000 + 1_000 * i
    const isPause = i % 5 === 4
    const expires = isPause && pauseMinutes > 5
    return { pauseMinutes: isPause ? pauseMinutes : 0.5, tokens, written: expires ? tokens - 10_000 : 1_000 }
  })
}

test.each([
  ['no pauses', growing(40, 1), '5m', 0],
  ['pauses of a quarter of an hour', growing(40, 15), '1h', 8],
  ['pauses of an hour and a half: it would have expired too', growing(40, 90), '5m', 0],
  ['two such pauses: they may be chance', growing(14, 15), '5m', 2],
  ['nothing yet', [], '5m', 0],
] as const)('%s', (_what, past, lifetime, pauses) => {
  expect(chooseLifetime(logOf(past), facts)).toMatchObject({ lifetime, pauses })
})

test('an hour does not pay for a conversation that writes much between its pauses', () => {
  const past = growing(40, 15).map((one) => ({ ...one, written: Math.max(one.written, 8_000) }))
  const choice = chooseLifetime(logOf(past), facts)
  expect(choice).toMatchObject({ lifetime: '5m', pauses: 8 })
  expect(choice.extraUsd).toBeGreaterThan(choice.sparedUsd / 2)
})

test('for a model without a price five minutes are bought', () => {
  expect(chooseLifetime(logOf(growing(40, 15)), { prices: [] }).lifetime).toBe('5m')
})

test.each([
  [{ ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 0 }, '5m'],
  [{ ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 3_000 }, '5m'],
  [{ ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 10 }, '1h'],
  [{ ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 }, undefined],
  [null, undefined],
])('the lifetime that usage reports: %j', (cache_creation, lifetime) => {
  expect(boughtLifetime({ input_tokens: 1, output_tokens: 1, cache_creation })).toBe(lifetime)
})
