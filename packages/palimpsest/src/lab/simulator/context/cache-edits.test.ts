import { describe, expect, test } from 'vitest'
import type { Block, WireMessage } from '../../../wire/message.ts'
import type { MessagesResponse } from '../../../wire/response.ts'
import { createSimulator, type Simulator } from '../create-simulator.ts'

const MINUTE = 60_000
const SYSTEM = 's'.repeat(2_000)

function create(): Simulator {
  return createSimulator({
    clock: 'virtual',
    tokens: 'characters',
    capabilities: ['cache_edits'],
    script: [{ content: [{ type: 'text', text: 'ok' }], times: 100 }],
  })
}

/** Rounds of a call of 6 characters and a result of 500; the edits stand behind the result of their round. */
function rounds(count: number, edits: { readonly [round: number]: readonly string[] } = {}): WireMessage[] {
  const messages: WireMessage[] = [{ role: 'user', content: 'go' }]
  for (let i = 0; i < count; i++) {
    messages.push({
      role: 'assistant',
      content: [{ type: 'tool_use', id: `t${i}`, name: 'read', input: {} }],
    })
    const deleted = edits[i]
    const content: Block[] = [{ type: 'tool_result', tool_use_id: `t${i}`, content: 'r'.repeat(500) }]
    if (deleted)
      content.push({
        type: 'cache_edits',
        edits: deleted.map((cache_reference) => ({ type: 'delete', cache_reference })),
      })
    messages.push({ role: 'user', content })
  }
  return messages
}

/** Read, written, deleted. */
function ask(simulator: Simulator, messages: WireMessage[]): unknown[] {
  const body = {
    model: 'claude-opus-5-5',
    max_tokens: 50,
    system: SYSTEM,
    cache_control: { type: 'ephemeral' },
    messages,
  }
  const { usage } = simulator.answer(body).body as MessagesResponse
  const deleted = 'cache_deleted_input_tokens' in usage ? usage.cache_deleted_input_tokens : undefined
  return [usage.cache_read_input_tokens, usage.cache_creation_input_tokens, deleted]
}

describe('cache edits', () => {
  test('delete results from the cached prefix without breaking it; the count is cumulative', () => {
    const simulator = create()
    const start = 2_002
    expect(ask(simulator, rounds(3))).toEqual([0, start + 3 * 506, 0])
    // two results go: what is read is smaller, what is new is written as ever
    expect(ask(simulator, rounds(4, { 3: ['t0', 't1'] }))).toEqual([start + 3 * 506 - 1_000, 506, 1_000])
    // pinned to their message they are sent again, and a third goes
    expect(ask(simulator, rounds(5, { 3: ['t0', 't1'], 4: ['t2'] }))).toEqual([
      start + 4 * 506 - 1_500,
      506,
      1_500,
    ])
  })

  test('an omitted pin makes the tokens count again, and breaks the prefix at its position', () => {
    const simulator = create()
    ask(simulator, rounds(3))
    ask(simulator, rounds(4, { 3: ['t0'] }))
    const [read, , deleted] = ask(simulator, rounds(5))
    expect(read).toBe(2_002 + 3 * 506)
    expect(deleted).toBe(0)
  })

  test('after an expiry there is nothing to delete from, so the results count again', () => {
    const simulator = create()
    ask(simulator, rounds(3))
    ask(simulator, rounds(4, { 3: ['t0', 't1'] }))
    simulator.advance(6 * MINUTE)
    expect(ask(simulator, rounds(5, { 3: ['t0', 't1'] }))).toEqual([0, 2_002 + 5 * 506, 0])
  })

  test('without the capability the usage has no such field', () => {
    const { body } = createSimulator().answer({
      model: 'claude-opus-5-5',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect((body as MessagesResponse).usage).not.toHaveProperty('cache_deleted_input_tokens')
  })
})
