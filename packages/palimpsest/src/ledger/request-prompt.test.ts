import { describe, expect, test } from 'vitest'
import type { MessagesRequest } from '../wire/request.ts'
import { commonPositions } from './prompt.ts'
import { promptOf, type RequestPrompt, type SizeOf } from './request-prompt.ts'

const perCharacter: SizeOf = ({ text }) => text().length

function lay(body: Partial<MessagesRequest>, betas: readonly string[] = []): RequestPrompt {
  return promptOf({ model: 'm', max_tokens: 1, messages: [], ...body }, betas, perCharacter)
}

function paths({ prompt }: RequestPrompt): string[] {
  return prompt.positions.map(({ path }) => path)
}

/** How many positions two requests share. */
function shared(a: Partial<MessagesRequest>, b: Partial<MessagesRequest>): number {
  return commonPositions(lay(a).prompt, lay(b).prompt)
}

describe('positions', () => {
  test('are in the order tools, system, messages, one per block', () => {
    const laid = lay({
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      ],
      system: [{ type: 'text', text: 's' }],
      tools: [{ name: 't', input_schema: { type: 'object' } }],
    })
    expect(paths(laid)).toEqual([
      'tools.0',
      'system.0',
      'messages.0.content.0',
      'messages.1.content.0',
      'messages.1.content.1',
    ])
    expect(laid.prompt.tokens).toBe(laid.prompt.positions.at(-1)?.tokens)
  })

  test('leave out deferred tools and the billing line', () => {
    const laid = lay({
      tools: [{ name: 'a' }, { name: 'b', defer_loading: true }, { name: 'c' }],
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=1;' },
        { type: 'text', text: 's' },
      ],
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(paths(laid)).toEqual(['tools.0', 'tools.2', 'system.1', 'messages.0.content.0'])
  })

  test('include one for a message without content, so that its settings are in the prefix', () => {
    const laid = lay({
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'system', content: [], output_config: { effort: 'low' } },
      ],
    })
    expect(paths(laid)).toEqual(['messages.0.content.0', 'messages.1'])
  })

  test('do not depend on breakpoints, nor on whether text is a string or a block', () => {
    const plain: Partial<MessagesRequest> = { messages: [{ role: 'user', content: 'hi' }] }
    const marked: Partial<MessagesRequest> = {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }] },
      ],
    }
    expect(shared(plain, marked)).toBe(1)
  })

  test('do not depend on how neighbours with the same role are split into messages', () => {
    const one: Partial<MessagesRequest> = {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    }
    const two: Partial<MessagesRequest> = {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
      ],
    }
    expect(shared(one, two)).toBe(2)
  })

  test('keep the order of keys in a tool input, because the cache compares them', () => {
    const call = (input: { [key: string]: number }): Partial<MessagesRequest> => ({
      messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input }] }],
    })
    expect(shared(call({ a: 1, b: 2 }), call({ a: 1, b: 2 }))).toBe(1)
    expect(shared(call({ a: 1, b: 2 }), call({ b: 2, a: 1 }))).toBe(0)
  })

  test('keep a tool input that contains its own cache_control', () => {
    const call = (input: { [key: string]: string }): Partial<MessagesRequest> => ({
      messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input }] }],
    })
    expect(shared(call({ cache_control: 'a' }), call({ cache_control: 'b' }))).toBe(0)
  })
})

describe('the other parts of the key', () => {
  const body: Partial<MessagesRequest> = {
    tools: [{ name: 't' }],
    system: 's',
    messages: [{ role: 'user', content: 'hi' }],
  }

  test('include the model and the betas in every position', () => {
    expect(shared(body, { ...body, model: 'other' })).toBe(0)
    expect(commonPositions(lay(body).prompt, lay(body, ['x']).prompt)).toBe(0)
    expect(commonPositions(lay(body, ['a', 'b']).prompt, lay(body, ['b', 'a']).prompt)).toBe(3)
  })

  test('include speed in system and messages; tool choice, thinking, effort and images in the messages', () => {
    expect(shared(body, { ...body, speed: 'fast' })).toBe(1)
    expect(shared(body, { ...body, tool_choice: { type: 'any' } })).toBe(2)
    expect(shared(body, { ...body, thinking: { type: 'adaptive' } })).toBe(2)
    expect(shared(body, { ...body, output_config: { effort: 'high' } })).toBe(2)
    const image = { type: 'image', source: { type: 'url', url: 'u' } } as const
    const shows: Partial<MessagesRequest> = {
      ...body,
      messages: [
        ...(body.messages ?? []),
        { role: 'assistant', content: 'ok' },
        { role: 'user', content: [image] },
      ],
    }
    expect(shared(body, shows)).toBe(2)
  })

  test('never include output limits and metadata', () => {
    expect(shared(body, { ...body, max_tokens: 9, metadata: { user_id: 'u' }, stream: true })).toBe(3)
  })
})

describe('breakpoints', () => {
  const mark = { type: 'ephemeral' } as const

  test('are on tools, system and message blocks, and nested ones on the block that contains them', () => {
    const { breakpoints } = lay({
      tools: [{ name: 'a' }, { name: 'b', cache_control: { ...mark, ttl: '1h' } }],
      system: [{ type: 'text', text: 's', cache_control: mark }],
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't',
              content: [{ type: 'text', text: 'x', cache_control: mark }],
            },
          ],
        },
      ],
    })
    expect(breakpoints).toEqual([
      { index: 1, ttl: '1h' },
      { index: 2, ttl: '5m' },
      { index: 3, ttl: '5m' },
    ])
  })

  test('the automatic one is on the last block that can carry one', () => {
    const { breakpoints } = lay({
      cache_control: { ...mark, ttl: '1h' },
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'a' },
            { type: 'thinking', thinking: 't', signature: 's' },
          ],
        },
      ],
    })
    expect(breakpoints).toEqual([{ index: 1, ttl: '1h' }])
  })

  test('the automatic one changes nothing if an explicit one is there', () => {
    const { breakpoints } = lay({
      cache_control: mark,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: mark }] }],
    })
    expect(breakpoints).toEqual([{ index: 0, ttl: '5m' }])
  })
})
