import { describe, expect, test } from 'vitest'

import { isUnchanged, keyOf, look, type OwnerMessage } from './owner-message.ts'

const call = { type: 'tool_use', id: 'a', name: 'read', input: { path: 'x', deep: { b: 1, a: null } } }
const result = { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'Found.' }] }

describe('two messages are the same', () => {
  test.each<[string, OwnerMessage, OwnerMessage]>([
    ['as a string or as one text block', said('Hello.'), said([{ type: 'text', text: 'Hello.' }])],
    [
      'with breakpoints or without',
      said([
        { ...result, content: [{ type: 'text', text: 'Found.', cache_control: { type: 'ephemeral' } }] },
      ]),
      said([result]),
    ],
    [
      'in any order of members',
      said([call]),
      said([{ input: call.input, name: 'read', id: 'a', type: 'tool_use' }]),
    ],
    [
      'with members that mean nothing',
      said([
        { type: 'text', text: 'Hello.', citations: null },
        { ...call, caller: { type: 'direct' } },
      ]),
      said([{ type: 'text', text: 'Hello.' }, call]),
    ],
    [
      'if a result is no error',
      said([{ ...result, is_error: false }]),
      said([{ ...result, content: 'Found.' }]),
    ],
  ])('%s', (_, one, other) => {
    expect(keyOf(one)).toBe(keyOf(other))
  })
})

describe('two messages are not the same', () => {
  test.each<[string, OwnerMessage, OwnerMessage]>([
    ['with another role', said('Hello.'), { role: 'assistant', content: 'Hello.' }],
    ['with another text', said('Hello.'), said('Hello')],
    ['if a result is an error', said([{ ...result, is_error: true }]), said([result])],
    [
      'with another input, null or missing',
      said([call]),
      said([{ ...call, input: { path: 'x', deep: { b: 1 } } }]),
    ],
    [
      'with an input member that has the name of a breakpoint',
      said([withInput({ cache_control: 1 })]),
      said([withInput({})]),
    ],
  ])('%s', (_, one, other) => {
    expect(keyOf(one)).not.toBe(keyOf(other))
  })
})

test('a change in place is noticed, wherever the text is', () => {
  const inner = { type: 'text', text: 'Found.' }
  const block = { type: 'tool_result', tool_use_id: 'a', content: [inner] }
  const blocks: object[] = [block]
  const message = { role: 'user' as const, content: blocks }
  const seen = look(message, 0)
  expect(isUnchanged(seen, message)).toBe(true)
  expect(isUnchanged(seen, { ...message })).toBe(false)
  inner.text = 'Cleared.'
  expect(isUnchanged(seen, message)).toBe(false)
  inner.text = 'Found.'
  blocks.push({ type: 'text', text: 'More.' })
  expect(isUnchanged(seen, message)).toBe(false)
})

function said(content: OwnerMessage['content'] & {}): OwnerMessage {
  return { role: 'user', content }
}

function withInput(input: object): object {
  return { ...call, input }
}
