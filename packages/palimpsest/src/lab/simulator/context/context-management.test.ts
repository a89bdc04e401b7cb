import { describe, expect, test } from 'vitest'
import type { WireMessage } from '../../../wire/message.ts'
import type { MessagesResponse } from '../../../wire/response.ts'
import { createSimulator, type Simulator, type SimulatorOptions } from '../create-simulator.ts'

const BETA = { 'anthropic-beta': 'context-management-2025-06-27' }
const RESULT = 'x'.repeat(1_000)
/** `[cleared]` */
const CLEARED = 9

/** A prompt of 2 characters and `tools.length` calls of 6 characters with results of 1,000. */
function loop(...tools: string[]): WireMessage[] {
  const rounds = tools.flatMap((name, i): WireMessage[] => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${i}`, name, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${i}`, content: RESULT }] },
  ])
  return [{ role: 'user', content: 'go' }, ...rounds]
}

function create(options: SimulatorOptions = {}): Simulator {
  return createSimulator({ clock: 'virtual', tokens: 'characters', ...options })
}

function ask(
  simulator: Simulator,
  messages: readonly WireMessage[],
  edits: object[],
  more: object = {},
): MessagesResponse {
  const body = {
    model: 'claude-opus-5',
    max_tokens: 50,
    messages,
    context_management: { edits },
    ...more,
  }
  const { body: answer } = simulator.answer(body, BETA)
  expect(answer).toMatchObject({ type: 'message' })
  return answer as MessagesResponse
}

const clear = (more: object = {}): object => ({
  type: 'clear_tool_uses_20250919',
  trigger: { type: 'input_tokens', value: 3_000 },
  ...more,
})

describe('clearing tool uses', () => {
  test('does nothing up to its trigger', () => {
    const answer = ask(create(), loop('read'), [clear()])
    expect(answer.context_management).toEqual({ applied_edits: [] })
    expect(answer.usage.input_tokens).toBe(2 + 1_006)
  })

  test('clears all results except the three newest above it', () => {
    const answer = ask(create(), loop('read', 'read', 'read', 'read', 'read'), [clear()])
    expect(answer.context_management?.applied_edits).toEqual([
      { type: 'clear_tool_uses_20250919', cleared_tool_uses: 2, cleared_input_tokens: 2 * (1_000 - CLEARED) },
    ])
    expect(answer.usage.input_tokens).toBe(2 + 5 * 6 + 3 * 1_000 + 2 * CLEARED)
  })

  test('can be triggered by the number of uses, keep none, and exempt some tools', () => {
    const edit = clear({
      trigger: { type: 'tool_uses', value: 2 },
      keep: { type: 'tool_uses', value: 0 },
      exclude_tools: ['bash'],
    })
    const answer = ask(create(), loop('read', 'bash', 'read'), [edit])
    expect(answer.context_management?.applied_edits[0]).toMatchObject({ cleared_tool_uses: 2 })
    expect(answer.usage.input_tokens).toBe(2 + 3 * 6 + 1_000 + 2 * CLEARED)
  })

  test('clears inputs on request, of all tools or of some', () => {
    const messages = loop('read', 'edit', 'read', 'read', 'read').map((message): WireMessage => {
      const [block] = typeof message.content === 'object' ? message.content : []
      return block?.type === 'tool_use' ? { ...message, content: [{ ...block, input: { a: 1 } }] } : message
    })
    const size = (inputs: boolean | string[]): number =>
      ask(create(), messages, [clear({ clear_tool_inputs: inputs })]).usage.input_tokens
    // {"a":1} has 7 characters, {} has 2
    const plain = 2 + 5 * (4 + 7) + 3 * 1_000 + 2 * CLEARED
    expect(size(false)).toBe(plain)
    expect(size(true)).toBe(plain - 10)
    expect(size(['edit'])).toBe(plain - 5)
  })

  test('leaves everything in place if too little would be freed', () => {
    const edit = clear({ clear_at_least: { type: 'input_tokens', value: 1_983 } })
    const messages = loop('read', 'read', 'read', 'read', 'read')
    expect(ask(create(), messages, [edit]).context_management?.applied_edits).toEqual([])
    const enough = clear({ clear_at_least: { type: 'input_tokens', value: 1_982 } })
    expect(ask(create(), messages, [enough]).context_management?.applied_edits).toHaveLength(1)
  })

  test('breaks the cached prefix at the clearing', () => {
    const simulator = create()
    const more = { system: 's'.repeat(2_000), cache_control: { type: 'ephemeral' } }
    const usage = (messages: WireMessage[]): unknown[] => {
      const { usage } = ask(simulator, messages, [clear({ trigger: { type: 'tool_uses', value: 3 } })], more)
      return [usage.cache_read_input_tokens, usage.cache_creation_input_tokens]
    }
    const three = 2_002 + 3 * 1_006
    expect(usage(loop('read', 'read', 'read'))).toEqual([0, three])
    expect(usage(loop('read', 'read', 'read', 'read'))).toEqual([0, three + 1_006 - (1_000 - CLEARED)])
  })

  test('is reported by count_tokens', async () => {
    const response = await create().fetch(
      new Request('http://simulator/v1/messages/count_tokens', {
        method: 'POST',
        headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', ...BETA },
        body: JSON.stringify({
          model: 'claude-opus-5',
          messages: loop('read', 'read', 'read', 'read', 'read'),
          context_management: { edits: [clear()] },
        }),
      }),
    )
    expect(await response.json()).toEqual({
      input_tokens: 2 + 5 * 6 + 3 * 1_000 + 2 * CLEARED,
      context_management: { original_input_tokens: 2 + 5 * 1_006 },
    })
  })
})

describe('clearing thinking', () => {
  const said = (text: string): object => ({
    content: [
      { type: 'thinking', thinking: 't'.repeat(100) },
      { type: 'text', text },
    ],
  })

  function talk(
    model: string,
    options: SimulatorOptions = {},
  ): { simulator: Simulator; messages: WireMessage[] } {
    const simulator = create({ ...options, script: [said('a'), said('b'), said('c')] as never })
    const messages: WireMessage[] = [{ role: 'user', content: 'go' }]
    for (let i = 0; i < 3; i++) {
      const thinking = model.includes('4-5')
        ? { type: 'enabled', budget_tokens: 1_024 }
        : { type: 'adaptive' }
      const answer = simulator.answer({ model, max_tokens: 2_000, thinking, messages })
      messages.push({ role: 'assistant', content: (answer.body as MessagesResponse).content })
      messages.push({ role: 'user', content: 'on' })
    }
    return { simulator, messages }
  }

  const edit = (keep?: unknown): object => ({ type: 'clear_thinking_20251015', ...(keep ? { keep } : {}) })
  /** 4 prompts of 2 characters and 3 answers of 1. */
  const words = 4 * 2 + 3

  test('keeps as many turns as requested', () => {
    const { simulator, messages } = talk('claude-opus-5')
    const answer = ask(simulator, messages, [edit({ type: 'thinking_turns', value: 1 })])
    expect(answer.context_management?.applied_edits).toEqual([
      { type: 'clear_thinking_20251015', cleared_thinking_turns: 2, cleared_input_tokens: 200 },
    ])
    expect(answer.usage.input_tokens).toBe(words + 100)
  })

  test('keeps everything on request, and by default if the model does', () => {
    const { simulator, messages } = talk('claude-opus-5')
    for (const keep of ['all', { type: 'all' }, undefined])
      expect(ask(simulator, messages, [edit(keep)]).usage.input_tokens).toBe(words + 300)
  })

  test('older models strip the thinking of earlier turns themselves', () => {
    const { simulator, messages } = talk('claude-sonnet-4-5')
    const thinking = { type: 'enabled', budget_tokens: 1_024 }
    const body = { model: 'claude-sonnet-4-5', max_tokens: 2_000, thinking, messages }
    expect((simulator.answer(body).body as MessagesResponse).usage.input_tokens).toBe(words)
  })

  test('server-side edits do not affect the check of thinking, unless a switch makes them', () => {
    const edits = [edit({ type: 'thinking_turns', value: 1 })]
    const asSent = talk('claude-opus-5-5')
    expect(ask(asSent.simulator, asSent.messages, edits, { model: 'claude-opus-5-5' }).type).toBe('message')
    const asEdited = talk('claude-opus-5-5', { switches: { serverEdits: 'as-edited' } })
    const body = {
      model: 'claude-opus-5-5',
      max_tokens: 50,
      messages: asEdited.messages,
      context_management: { edits },
    }
    expect(asEdited.simulator.answer(body, BETA)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('bound to a different conversation') } },
    })
  })
})
