import { describe, expect, test } from 'vitest'
import {
  createChargedConversation,
  use,
  type Charged,
  type ChargedConversation,
} from '../../../../test/kit/charged-conversation.ts'
import {
  chargeRequest,
  createCache,
  LOOKBACK_POSITIONS,
  publishWrites,
  type CacheCharge,
} from '../ledger/cache.ts'
import { commonPositions } from '../ledger/prompt.ts'
import { promptOf } from '../ledger/request-prompt.ts'
import type { Block } from '../wire/message.ts'

// What is read is the ledger's word on the bodies that were built, not on the places themselves.

const text = (said: string): Block => ({ type: 'text', text: said })

describe('where breakpoints are', () => {
  test('the end of system, what the next edit leaves, the end of the last request, the new end', () => {
    const talk = createChargedConversation()
    talk.say('begin')
    expect(talk.ask([text('a0'), use('t1')]).breakpoints).toEqual(['system.0', 'messages.0.content.0'])
    talk.results(100)
    expect(talk.ask([use('t2')]).breakpoints).toEqual([
      'system.0',
      'messages.0.content.0',
      'messages.2.content.0',
    ])
    talk.results(100)
    expect(talk.ask([text('done')]).breakpoints).toEqual([
      'system.0',
      'messages.0.content.0',
      'messages.2.content.0',
      'messages.4.content.0',
    ])
  })

  test('a step with more blocks than the look-back is read completely, but only because the last end is kept', () => {
    const talk = createChargedConversation()
    talk.say('begin')
    talk.ask([use('t0')])
    talk.results(5_000)
    const before = talk.ask(Array.from({ length: 15 }, (_, i) => use(`p${i}`)))
    talk.results(10)
    const after = talk.ask([text('done')])
    const cached = before.charge.read + before.charge.written5m + before.charge.written1h
    expect(after.charge.read).toBe(cached)
    expect(cached).toBeGreaterThan(6_000)
    // The same requests with the new end alone: nothing but the system prompt is found.
    const [, alone] = chargeWithEndsAlone([before, after])
    expect(alone?.readIndex).toBe(1)
    expect(2 * 15).toBeGreaterThan(LOOKBACK_POSITIONS)
  })

  test('the prefix before an edit far up is read up to the edit, also for the second and third edit, with minutes between', () => {
    // Twelve rounds are six minutes: longer than the lifetime of an end that nothing renews.
    const talk = createChargedConversation({ stepMs: 30_000 })
    talk.say('b'.repeat(2_000))
    const results: string[] = []
    const lost: number[] = []
    for (let i = 0; i < 40; i++) {
      results.push(round(talk, `t${i}`, 1_000))
      if (i % 12 !== 11) continue
      const before = talk.ask([use(`x${i}`)])
      talk.results(10)
      talk.clear(results.splice(0, 10))
      const after = talk.ask([use(`y${i}`)])
      talk.results(10)
      const kept = commonPositions(before.prompt, after.prompt)
      lost.push((after.prompt.positions[kept - 1]?.tokens ?? 0) - after.charge.read)
    }
    // What is lost is the call that the first cleared result answers: an entry stands right before it.
    expect(lost).toEqual([63, 64, 64])
  })

  test('an undo reads again what was cached before the edit', () => {
    const talk = createChargedConversation()
    talk.say('begin')
    const results = Array.from({ length: 30 }, (_, i) => round(talk, `t${i}`, 500))
    const cached = talk.ask([use('t30')])
    talk.results(500)
    const edit = talk.clear(results.slice(0, 20))
    talk.ask([use('t31')])
    talk.results(500)
    talk.append({ kind: 'void', target: edit })
    const again = talk.ask([text('done')])
    const { read, written5m, written1h } = cached.charge
    expect(again.charge.read).toBe(read + written5m + written1h)
  })

  test('after a boundary the summary has its own breakpoint, so clearing in the kept tail leaves it cached', () => {
    const talk = createChargedConversation()
    talk.say('begin')
    const rounds = Array.from({ length: 4 }, (_, i) => round(talk, `t${i}`, 500))
    const head = talk.view().nodes[3]?.entries[0] ?? ''
    talk.append({
      kind: 'boundary',
      summary: [`e${talk.view().log.length + 1}`],
      kept: { head, tail: rounds.at(-1) ?? '', anchor: '' },
      keeps: 'tail',
      attachments: [],
      logicalParent: null,
      meta: { trigger: 'auto', preTokens: 1 },
    })
    const summary = { role: 'user', content: 'S'.repeat(4_000) } as const
    talk.append({
      kind: 'message',
      origin: 'engine',
      part: 'summary',
      message: summary,
      json: JSON.stringify(summary),
    })
    const first = talk.ask([use('t9')])
    expect(first.breakpoints.slice(0, 2)).toEqual(['system.0', 'messages.0.content.0'])
    talk.results(10)
    talk.clear(rounds.slice(2, 3))
    const { charge } = talk.ask([text('done')])
    expect(charge.read).toBeGreaterThan(5_000)
  })
})

describe('what may carry a breakpoint', () => {
  test.each([
    ['thinking at the end', [text('x'), { type: 'thinking', thinking: 't', signature: 's' }]],
    ['a block of an unknown type', [text('x'), { type: 'hologram', data: 'd' }]],
    [
      'a block that has no cache_control',
      [text('x'), { type: 'mcp_tool_listing', mcp_server_name: 's', tools: [] }],
    ],
  ] as const)('not %s: the block before it does', (_name, blocks) => {
    const talk = createChargedConversation()
    talk.say('begin')
    talk.ask([text('a')])
    talk.say(blocks)
    expect(talk.ask([text('done')]).breakpoints.at(-1)).toBe('messages.2.content.0')
  })

  test('a conversation without such a block is sent with only the breakpoint of system', () => {
    const talk = createChargedConversation()
    talk.say([{ type: 'hologram', data: 'd' }])
    expect(talk.ask([text('done')]).breakpoints).toEqual(['system.0'])
  })
})

describe('lifetimes', () => {
  test.each([
    ['1h', '5m', ['1h', '5m', '5m']],
    ['5m', '5m', ['5m', '5m', '5m']],
    ['1h', '1h', ['1h', '1h', '1h']],
    ['5m', '1h', ['1h', '1h', '1h']],
  ] as const)(
    'system %s, messages %s: a longer one never comes after a shorter one',
    (system, messages, expected) => {
      const talk = createChargedConversation({ lifetimes: { system, messages } })
      talk.say('begin')
      talk.ask([use('t1')])
      talk.results(10)
      const { request } = talk.ask([text('done')])
      const { breakpoints } = promptOf(request, [], () => 1)
      expect(breakpoints.map(({ ttl }) => ttl)).toEqual(expected)
    },
  )

  test('breakpoints given in system and tools are replaced by ours', () => {
    const talk = createChargedConversation()
    const marked = { cache_control: { type: 'ephemeral' } }
    talk.append({
      kind: 'prefix',
      model: 'claude-opus-4-6',
      betas: [],
      system: JSON.stringify([
        { type: 'text', text: 'one', ...marked },
        { type: 'text', text: 'two', ...marked },
      ]),
      tools: JSON.stringify([{ name: 'Read', input_schema: { type: 'object' }, ...marked }]),
      parameters: {},
      reason: 'given',
    })
    talk.say('begin')
    expect(talk.ask([text('done')]).breakpoints).toEqual(['system.1', 'messages.0.content.0'])
  })
})

/** One call and its result of so many characters, whose entry is returned. */
function round(talk: ChargedConversation, id: string, chars: number): string {
  talk.ask([use(id)])
  return talk.results(chars)[0] ?? ''
}

/** The same requests with the breakpoints of system and the new end, and no other. */
function chargeWithEndsAlone(requests: readonly Charged[]): CacheCharge[] {
  const cache = createCache()
  return requests.map(({ prompt, request }, i) => {
    const { breakpoints } = promptOf(request, [], () => 1)
    const ends = breakpoints.filter((_, n) => n === 0 || n === breakpoints.length - 1)
    const charge = chargeRequest(cache, { at: i, prompt, breakpoints: ends, minimumTokens: 0 })
    publishWrites(cache, charge, i)
    return charge
  })
}
