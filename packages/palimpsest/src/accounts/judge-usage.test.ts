import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { costOfUsage } from '../ledger/prices.ts'
import type { ModelEvent, ModelRequest } from '../ports.ts'
import { findModelFacts } from '../wire/model-facts.ts'
import type { Usage } from '../wire/usage.ts'
import { promptTokens } from '../wire/usage.ts'
import { meterModel } from './meter-model.ts'

const MODEL = 'claude-opus-5-5'
const PRICES = findModelFacts(MODEL)?.prices ?? []
const WORDS = 'The quick brown fox jumps over the lazy dog. '

describe('figures of a request of about 10,000 tokens', () => {
  const body = JSON.stringify({
    model: MODEL,
    max_tokens: 32_000,
    messages: [{ role: 'user', content: WORDS.repeat(1_000) }],
  })

  test.each<[string, Partial<Usage>]>([
    ['unchanged figures', { input_tokens: 10_200 }],
    [
      'figures of a cache read',
      { input_tokens: 12, cache_read_input_tokens: 9_000, cache_creation_input_tokens: 1_400 },
    ],
    ['figures with a prompt added by the provider', { input_tokens: 16_000 }],
    ['figures of a vocabulary with half as many tokens', { input_tokens: 5_600 }],
    ['figures with long thinking', { input_tokens: 10_200, output_tokens: 31_000 }],
    [
      'figures of several samplings',
      {
        input_tokens: 10_200,
        iterations: [
          { type: 'compaction', input_tokens: 10_100, output_tokens: 900 },
          { type: 'message', input_tokens: 9_900, output_tokens: 5 },
        ],
      },
    ],
  ])('%s are believed', async (_what, usage) => {
    const told = { input_tokens: 0, output_tokens: 5, ...usage }
    expect(await heard(body, told)).toEqual({ usage: told, spent: [], notices: [] })
  })

  test.each<[string, Partial<Usage>, RegExp]>([
    ['190,000', { input_tokens: 190_000 }, /reports 190,000 tokens for a prompt of about 1\d,\d{3}/],
    ['190,000 from the cache', { cache_read_input_tokens: 190_000 }, /reports 190,000 tokens/],
    ['1e18', { input_tokens: 1e18 }, /reports 1,000,000,000,000,000,000 tokens/],
    ['12', { input_tokens: 12 }, /reports 12 tokens/],
    [
      '1e18 for an answer',
      { input_tokens: 10_200, output_tokens: 1e18 },
      /answer of 1,000,000,000,000,000,000/,
    ],
    [
      '1e18 for a sampling',
      { input_tokens: 10_200, iterations: [{ type: 'compaction', input_tokens: 1e18, output_tokens: 5 }] },
      /reports 10,200 tokens/,
    ],
  ])('%s are not believed: an estimate is billed, with a warning', async (_what, usage, notice) => {
    const {
      usage: stored,
      spent,
      notices,
    } = await heard(body, { input_tokens: 0, output_tokens: 5, ...usage })
    const [bill] = spent
    const sum = promptTokens(stored) + promptTokens(bill?.usage ?? stored)
    expect(sum).toBeGreaterThan(9_000)
    expect(sum).toBeLessThan(16_000)
    expect(bill).toMatchObject({ kind: 'spent', source: 'main', model: MODEL, estimated: true })
    expect(notices).toHaveLength(1)
    expect(notices[0]).toMatch(notice)
  })

  test('whatever a server reports, the figures that are believed and those that are estimated make a possible bill', async () => {
    const anyCount = fc.oneof(fc.nat({ max: 300_000 }), fc.constantFrom(0, 190_000, 1e9, 1e18, 1e300))
    const anyUsage = fc.record(
      {
        input_tokens: anyCount,
        output_tokens: anyCount,
        cache_read_input_tokens: anyCount,
        cache_creation_input_tokens: anyCount,
        iterations: fc.array(
          fc.record({
            type: fc.constantFrom('message', 'compaction'),
            input_tokens: anyCount,
            output_tokens: anyCount,
          }),
          { maxLength: 3 },
        ),
      },
      { requiredKeys: ['input_tokens', 'output_tokens'] },
    )
    await fc.assert(
      fc.asyncProperty(anyUsage, anyUsage, async (begin, end) => {
        const { usage, spent } = await heard(body, begin, end)
        const kept = [usage, ...spent.map((bill) => bill.usage)]
        const usd = kept.reduce((sum, one) => sum + costOfUsage(one, PRICES), 0)
        expect(usd).toBeGreaterThan(0)
        expect(usd).toBeLessThan(15)
        expect(promptTokens(usage)).toBeLessThan(40_000)
      }),
      cases(100, 20_000),
    )
  })
})

test('the figures for an image are believed, but not those for its base64 as text', async () => {
  const image = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(400_000) },
  }
  const body = JSON.stringify({
    model: MODEL,
    max_tokens: 100,
    messages: [{ role: 'user', content: [image] }],
  })
  const good = { input_tokens: 4_700, output_tokens: 5 }
  expect((await heard(body, good)).usage).toEqual(good)
  expect((await heard(body, { ...good, input_tokens: 100_000 })).usage.input_tokens).toBe(0)
})

test('usage that a server does not report is estimated without a warning', async () => {
  const body = JSON.stringify({ model: MODEL, max_tokens: 100, messages: [{ role: 'user', content: WORDS }] })
  const { spent, notices } = await heard(body, { input_tokens: 0, output_tokens: 0 })
  expect(spent).toHaveLength(1)
  expect(notices).toEqual([])
})

/** What is left of an answer with these figures, and what is on the bill besides. */
async function heard(body: string, begin: Usage, end: Partial<Usage> = {}) {
  const events: ModelEvent[] = [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: MODEL,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: begin,
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: WORDS } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: begin.output_tokens, ...end },
    },
    { type: 'message_stop' },
  ]
  const metered = meterModel(async function* (): AsyncGenerator<ModelEvent> {
    yield* events
  })
  const request: ModelRequest = { body, betas: [], model: MODEL, source: 'main' }
  let usage: Usage = { input_tokens: 0, output_tokens: 0 }
  for await (const event of metered.streamModel(request, new AbortController().signal)) {
    if (event.type === 'message_start') usage = event.message.usage
    if (event.type !== 'message_delta') continue
    const told = Object.entries(event.usage).filter(([, value]) => value !== null && value !== undefined)
    usage = { ...usage, ...Object.fromEntries(told) }
  }
  return { usage, spent: metered.take(), notices: metered.notices() }
}
