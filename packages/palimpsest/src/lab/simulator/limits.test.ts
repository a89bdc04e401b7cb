import { describe, expect, test } from 'vitest'
import { findModelFacts, type ModelFacts } from '../../wire/model-facts.ts'
import type { MessagesResponse } from '../../wire/response.ts'
import { createSimulator, type SimulatorOptions } from './create-simulator.ts'
import type { ScriptBlock } from './answering/script.ts'

function answer(
  content: readonly ScriptBlock[],
  body: object,
  options: SimulatorOptions = {},
): MessagesResponse {
  const simulator = createSimulator({
    clock: 'virtual',
    tokens: 'characters',
    script: [{ content }],
    ...options,
  })
  const base = { model: 'claude-opus-5-5', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }
  const { body: said } = simulator.answer({ ...base, ...body })
  expect(said).toMatchObject({ type: 'message' })
  return said as MessagesResponse
}

const TEN = { type: 'text', text: '0123456789' } as const
const CALL = { type: 'tool_use', name: 'read', input: { path: 'a' } } as const

describe('where an answer ends', () => {
  test('by itself, or at a tool call', () => {
    expect(answer([TEN], {})).toMatchObject({ stop_reason: 'end_turn', usage: { output_tokens: 10 } })
    expect(answer([TEN, CALL], {})).toMatchObject({ stop_reason: 'tool_use' })
  })

  test('at max_tokens: text is cut, a call loses its input, thinking that does not fit is dropped', () => {
    expect(answer([TEN], { max_tokens: 4 })).toMatchObject({
      stop_reason: 'max_tokens',
      content: [{ type: 'text', text: '0123' }],
      usage: { output_tokens: 4 },
    })
    expect(answer([TEN, CALL], { max_tokens: 12 })).toMatchObject({
      stop_reason: 'max_tokens',
      content: [TEN, { type: 'tool_use', name: 'read', input: {} }],
      usage: { output_tokens: 12 },
    })
    expect(
      answer([{ type: 'thinking', thinking: 'so long a thought' }, TEN], { max_tokens: 5 }),
    ).toMatchObject({
      stop_reason: 'max_tokens',
      content: [],
    })
  })

  test('at the first stop sequence', () => {
    expect(answer([TEN, CALL], { stop_sequences: ['8', '56'] })).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: '56',
      content: [{ type: 'text', text: '01234' }],
    })
  })

  test('at the window, if the model accepts more than fits', () => {
    const opus = findModelFacts('claude-opus-5-5') as ModelFacts
    const models = [{ ...opus, id: 'claude-small', contextWindow: 20 }]
    const body = { model: 'claude-small', messages: [{ role: 'user', content: 'x'.repeat(13) }] }
    expect(answer([TEN], body, { models })).toMatchObject({
      stop_reason: 'model_context_window_exceeded',
      content: [{ type: 'text', text: '0123456' }],
      usage: { input_tokens: 13, output_tokens: 7 },
    })
  })

  test('wherever the script says', () => {
    const simulator = createSimulator({ script: [{ content: [TEN], stop_reason: 'refusal' }] })
    const body = { model: 'claude-opus-5-5', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }
    expect(simulator.answer(body).body).toMatchObject({ stop_reason: 'refusal' })
  })
})

describe('thinking in an answer', () => {
  const THOUGHT = { type: 'thinking', thinking: 'hm' } as const
  const kinds = ({ content }: MessagesResponse): string[] => content.map(({ type }) => type)

  test('is present if it is on, or cannot be turned off', () => {
    expect(kinds(answer([THOUGHT, TEN], {}))).toEqual(['thinking', 'text'])
    expect(kinds(answer([THOUGHT, TEN], { model: 'claude-opus-5' }))).toEqual(['text'])
    expect(kinds(answer([THOUGHT, TEN], { model: 'claude-opus-5', thinking: { type: 'disabled' } }))).toEqual(
      ['text'],
    )
    const on = answer([THOUGHT, TEN], { model: 'claude-opus-5', thinking: { type: 'adaptive' } })
    expect(kinds(on)).toEqual(['thinking', 'text'])
    expect(on.usage.output_tokens_details).toEqual({ thinking_tokens: 2 })
  })

  test('can be hidden, and is signed anyway', () => {
    const hidden = answer([THOUGHT, TEN], { thinking: { type: 'adaptive', display: 'omitted' } })
    expect(hidden.content[0]).toEqual({
      type: 'thinking',
      thinking: '',
      signature: expect.stringMatching(/.{40}/),
    })
  })
})
