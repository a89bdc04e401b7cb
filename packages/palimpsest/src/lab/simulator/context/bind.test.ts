import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../wire/json.ts'
import type { Block, WireMessage } from '../../../wire/message.ts'
import type { MessagesResponse } from '../../../wire/response.ts'
import { createSimulator, type Simulator, type SimulatorOptions } from '../create-simulator.ts'
import type { HeaderRecord } from '../headers.ts'
import type { ScriptStep } from '../answering/script.ts'

const TOOLS = [{ name: 'Read', input_schema: { type: 'object' } }]
const BINDING_BETA = { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' }
const DROP = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } }

const CALL: ScriptStep = {
  content: [
    { type: 'thinking', thinking: 'I should read.' },
    { type: 'tool_use', name: 'Read', input: { path: 'a.ts' } },
  ],
}
const SAY: ScriptStep = {
  content: [
    { type: 'thinking', thinking: 'I have read.' },
    { type: 'text', text: 'Done.' },
  ],
}

/** A conversation of one tool loop, all of it with thinking: user, call, result, answer, user. */
function play(
  options: SimulatorOptions = {},
  body: JsonObject = {},
): { simulator: Simulator; messages: WireMessage[] } {
  const simulator = createSimulator({ clock: 'virtual', ...options, script: [CALL, SAY] })
  const messages: WireMessage[] = [{ role: 'user', content: 'Read a.ts.' }]
  const call = ask(simulator, { ...body, messages })
  messages.push({ role: 'assistant', content: call.content }, { role: 'user', content: [resultOf(call)] })
  messages.push({ role: 'assistant', content: ask(simulator, { ...body, messages }).content })
  messages.push({ role: 'user', content: 'And now?' })
  return { simulator, messages }
}

function resultOf({ content }: MessagesResponse): Block {
  const use = content.find((block) => block.type === 'tool_use') as { id: string }
  return { type: 'tool_result', tool_use_id: use.id, content: 'export {}' }
}

function send(simulator: Simulator, body: object, headers?: HeaderRecord) {
  return simulator.answer(
    { model: 'claude-opus-5-5', max_tokens: 500, system: 'You help.', tools: TOOLS, ...body },
    headers,
  )
}

function ask(simulator: Simulator, body: object, headers?: HeaderRecord): MessagesResponse {
  const { status, body: answer } = send(simulator, body, headers)
  expect(answer).toMatchObject({ type: 'message' })
  expect(status).toBe(200)
  return answer as MessagesResponse
}

/** The rule and place of a refusal; undefined where the request is answered. */
function refusal(simulator: Simulator, body: object, headers?: HeaderRecord): string | undefined {
  const { status, body: answer } = send(simulator, body, headers)
  return status === 200 ? undefined : (answer as { error: { message: string } }).error.message
}

function bound(path: string): string {
  return `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`
}

function edited(
  messages: readonly WireMessage[],
  at: number,
  change: (message: WireMessage) => WireMessage,
): WireMessage[] {
  return messages.map((message, i) => (i === at ? change(message) : message))
}

function blocksOf(message: WireMessage | undefined): readonly Block[] {
  return message?.content as readonly Block[]
}

describe('thinking that is bound to its conversation', () => {
  test('is accepted unchanged', () => {
    const { simulator, messages } = play()
    expect(refusal(simulator, { messages })).toBeUndefined()
  })

  test('is refused after a changed first message, a changed system prompt, or changed tools', () => {
    const { simulator, messages } = play()
    const other = edited(messages, 0, (message) => ({ ...message, content: 'Read b.ts.' }))
    expect(refusal(simulator, { messages: other })).toBe(bound('messages.1.content.0'))
    expect(refusal(simulator, { messages, system: 'You help!' })).toBe(bound('messages.1.content.0'))
    const tools = [...TOOLS, { name: 'Write', input_schema: { type: 'object' } }]
    expect(refusal(simulator, { messages, tools })).toBe(bound('messages.1.content.0'))
  })

  test('is refused only after the change: a cleared result leaves the thinking before it valid', () => {
    const { simulator, messages } = play()
    const cleared = edited(messages, 2, ({ role, content }) => ({
      role,
      content: [{ ...(content as Block[])[0], content: '[cleared]' } as Block],
    }))
    expect(refusal(simulator, { messages: cleared })).toBe(bound('messages.3.content.0'))
  })

  test('after thinking that was left out, must be left out too', () => {
    const { simulator, messages } = play()
    const without = (message: WireMessage): WireMessage => ({
      ...message,
      content: blocksOf(message).slice(1),
    })
    expect(refusal(simulator, { messages: edited(messages, 1, without) })).toBe(bound('messages.3.content.0'))
    expect(refusal(simulator, { messages: edited(edited(messages, 1, without), 3, without) })).toBeUndefined()
  })

  test('is refused at another position in the conversation', () => {
    const { simulator, messages } = play()
    const [moved] = blocksOf(messages[1])
    const late = edited(messages, 3, (message) => ({
      ...message,
      content: [moved as Block, { type: 'text', text: 'Done.' }],
    }))
    expect(refusal(simulator, { messages: late })).toBe(bound('messages.3.content.0'))
  })

  test('ignores breakpoints, string content, merged neighbours, deferred tools and the billing line', () => {
    const { simulator, messages } = play()
    const mark = { type: 'ephemeral' } as const
    const same = messages.flatMap((message, i): WireMessage[] => {
      if (i === 0)
        return [{ role: 'user', content: [{ type: 'text', text: 'Read a.ts.', cache_control: mark }] }]
      return i === 1 ? blocksOf(message).map((block) => ({ role: 'assistant', content: [block] })) : [message]
    })
    const tools = [{ name: 'Later', input_schema: { type: 'object' }, defer_loading: true }, ...TOOLS]
    const system = [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=1.2;' },
      { type: 'text', text: 'You help.', cache_control: mark },
    ]
    expect(refusal(simulator, { messages: same, tools, system })).toBeUndefined()
  })

  test('ignores settings that are not part of the conversation', () => {
    const { simulator, messages } = play()
    const more = {
      messages,
      max_tokens: 900,
      output_config: { effort: 'high' },
      thinking: { type: 'adaptive' },
    }
    expect(refusal(simulator, more)).toBeUndefined()
  })

  test('is refused if its own text was changed, with different errors for the latest message and for older ones', () => {
    const { simulator, messages } = play()
    const change = (message: WireMessage): WireMessage => ({
      ...message,
      content: [
        { ...blocksOf(message)[0], thinking: 'I never read.' } as Block,
        ...blocksOf(message).slice(1),
      ],
    })
    expect(refusal(simulator, { messages: edited(messages, 1, change) })).toBe(
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    )
    expect(refusal(simulator, { messages: edited(messages, 3, change) })).toBe(
      'messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
    )
  })

  test('is valid only in the simulator that signed it', () => {
    const { messages } = play()
    const other = createSimulator({ clock: 'virtual', key: 'another' })
    expect(refusal(other, { messages })).toMatch(/^messages\.1\.content\.0: (?:Invalid|`thinking`)/)
  })

  test('is checked by count_tokens too', async () => {
    const { simulator, messages } = play()
    const response = await simulator.fetch(
      new Request('http://simulator/v1/messages/count_tokens', {
        method: 'POST',
        headers: { 'x-api-key': 'in-process', 'anthropic-version': '2023-06-01' },
        body: JSON.stringify({ model: 'claude-opus-5-5', messages, system: 'Other', tools: TOOLS }),
      }),
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { message: bound('messages.1.content.0') } })
  })

  test('includes redacted thinking', () => {
    const simulator = createSimulator({
      clock: 'virtual',
      script: [{ content: [{ type: 'redacted_thinking' }, { type: 'text', text: 'Hm.' }] }],
    })
    const first: WireMessage = { role: 'user', content: 'Think.' }
    const { content } = ask(simulator, { messages: [first] })
    const rest: WireMessage[] = [
      { role: 'assistant', content },
      { role: 'user', content: 'On.' },
    ]
    expect(refusal(simulator, { messages: [first, ...rest] })).toBeUndefined()
    expect(refusal(simulator, { messages: [{ ...first, content: 'Do not.' }, ...rest] })).toBe(
      bound('messages.1.content.0'),
    )
  })
})

describe('what happens to thinking after a different prefix', () => {
  const change = { system: 'Changed.' }

  test('a request may ask to drop it, and the response reports what was dropped', () => {
    const { simulator, messages } = play()
    const answer = ask(simulator, { messages, ...change, thinking: DROP }, BINDING_BETA)
    expect(answer.input_transformations).toEqual([
      { type: 'thinking_dropped', path: 'messages.1.content.0', reason: 'prefix_binding_mismatch' },
      { type: 'thinking_dropped', path: 'messages.3.content.0', reason: 'prefix_binding_mismatch' },
    ])
  })

  test('dropped thinking is not part of the prompt', () => {
    const { simulator, messages } = play()
    const stripped = messages.map((message) =>
      message.role === 'assistant' ? { ...message, content: blocksOf(message).slice(1) } : message,
    )
    const sizeOf = ({ usage }: MessagesResponse): number => usage.input_tokens
    const dropped = ask(simulator, { messages, ...change, thinking: DROP }, BINDING_BETA)
    const without = ask(simulator, { messages: stripped, ...change, thinking: DROP }, BINDING_BETA)
    expect(sizeOf(dropped)).toBe(sizeOf(without))
  })

  test('an account may drop it silently: without the beta the response reports nothing', () => {
    const { simulator, messages } = play({ switches: { prefixMismatch: 'drop_block' } })
    expect(ask(simulator, { messages, ...change }).input_transformations).toBeUndefined()
  })

  test('an older account is not checked, unless the request asks for it', () => {
    const { simulator, messages } = play({ switches: { prefixMismatch: 'allow' } })
    expect(ask(simulator, { messages, ...change }, BINDING_BETA).input_transformations).toEqual([
      { type: 'thinking_mismatch_allowed', path: 'messages.1.content.0', reason: 'prefix_binding_mismatch' },
      { type: 'thinking_mismatch_allowed', path: 'messages.3.content.0', reason: 'prefix_binding_mismatch' },
    ])
    const strict = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'error' } }
    expect(refusal(simulator, { messages, ...change, thinking: strict }, BINDING_BETA)).toBe(
      bound('messages.1.content.0'),
    )
  })

  test('Fable 5.2 checks every account', () => {
    const model = { model: 'claude-fable-5-2' }
    const { simulator, messages } = play({ switches: { prefixMismatch: 'allow' } }, model)
    expect(refusal(simulator, { messages, ...change, ...model })).toBe(bound('messages.1.content.0'))
  })

  test('inside its message a block is bound to the thinking before it, or with a switch to every block before it', () => {
    const twice: ScriptStep = {
      content: [
        { type: 'thinking', thinking: 'One.' },
        { type: 'text', text: '\n\n' },
        { type: 'thinking', thinking: 'Two.' },
        { type: 'text', text: 'Done.' },
      ],
    }
    const without = (coverage: 'thinking' | 'blocks', left: number): string | undefined => {
      const simulator = createSimulator({
        clock: 'virtual',
        switches: { boundInMessage: coverage },
        script: [twice],
      })
      const first: WireMessage = { role: 'user', content: 'Think.' }
      const { content } = ask(simulator, { messages: [first] })
      const kept = content.filter((_, i) => i !== left)
      return refusal(simulator, {
        messages: [first, { role: 'assistant', content: kept }, { role: 'user', content: 'On.' }],
      })
    }
    expect(without('thinking', 1)).toBeUndefined()
    expect(without('thinking', 0)).toBe(bound('messages.1.content.1'))
    expect(without('blocks', 1)).toBe(bound('messages.1.content.1'))
  })
})

describe('thinking of another model or account', () => {
  test('is dropped without an error if the model cannot read it', () => {
    const { simulator, messages } = play()
    const answer = ask(simulator, { model: 'claude-sonnet-5-5', messages }, BINDING_BETA)
    expect(answer.input_transformations).toEqual([
      { type: 'thinking_dropped', path: 'messages.1.content.0', reason: 'model_binding_mismatch' },
      { type: 'thinking_dropped', path: 'messages.3.content.0', reason: 'model_binding_mismatch' },
    ])
  })

  test("is read if the table says so, and then checked like the model's own", () => {
    const { simulator, messages } = play()
    const model = 'claude-fable-5-1'
    expect(ask(simulator, { model, messages }, BINDING_BETA).input_transformations).toEqual([])
    expect(refusal(simulator, { model, messages, system: 'Other' })).toBe(bound('messages.1.content.0'))
  })

  test('of models that bind nothing is accepted after any prefix', () => {
    const model = { model: 'claude-opus-4-6', thinking: { type: 'adaptive' } }
    const { simulator, messages } = play({}, model)
    expect(blocksOf(messages[1])[0]).toMatchObject({ type: 'thinking' })
    expect(refusal(simulator, { ...model, messages, system: 'Other' })).toBeUndefined()
  })

  test('of another account is refused on the models that bind it, or dropped with a switch', () => {
    const model = { model: 'claude-sonnet-5-5' }
    const other = { 'x-api-key': 'somebody else' }
    const refusing = play({}, model)
    expect(refusal(refusing.simulator, { ...model, messages: refusing.messages }, other)).toBe(
      'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different organization.',
    )
    const dropping = play({ switches: { accountMismatch: 'drop_block' } }, model)
    const answer = ask(
      dropping.simulator,
      { ...model, messages: dropping.messages },
      { ...other, ...BINDING_BETA },
    )
    expect(answer.input_transformations).toEqual([
      { type: 'thinking_dropped', path: 'messages.1.content.0', reason: 'organization_binding_mismatch' },
      { type: 'thinking_dropped', path: 'messages.3.content.0', reason: 'organization_binding_mismatch' },
    ])
    const opus = play()
    expect(refusal(opus.simulator, { messages: opus.messages }, other)).toBeUndefined()
  })
})
