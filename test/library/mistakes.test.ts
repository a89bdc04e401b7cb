import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, onTestFinished, test } from 'vitest'

import { createAgent, createContext, UsageError, type Context, type ContextOptions } from 'palimpsest'
import { withPalimpsest } from 'palimpsest/anthropic'
import { createSimulator, type Simulator } from 'palimpsest/simulator'

// What goes wrong in a program that calls the library is said in a sentence that names the cure, before anything is sent.

const MODEL = 'claude-sonnet-5-5'

function connect(): { client: Anthropic; simulator: Simulator } {
  const simulator = createSimulator({ script: [{ content: [{ type: 'text', text: 'Yes.' }], times: 100 }] })
  const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
  return { simulator, client: new Anthropic({ apiKey: 'test', fetch, maxRetries: 0 }) }
}

function open(options: Partial<ContextOptions> = {}): Context {
  const context = createContext({ model: MODEL, ...options })
  onTestFinished(async () => await context.close())
  return context
}

/** As a program without types has it. */
const untyped = (value: unknown): never => value as never

const ask = { role: 'user', content: 'Where is it?' } as const
const answer = { role: 'assistant', content: 'Here.' } as const
const call = (id: string) =>
  ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {} }] }) as const
const result = (id: string) =>
  ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'Found.' }] }) as const

describe('an invalid history', () => {
  test.each<[string, unknown, RegExp]>([
    ['is missing', undefined, /`messages` is not a list/],
    ['is empty', [], /`messages` is empty/],
    ['has no content', [{ role: 'user', content: null }], /messages\[0\].*neither a text nor a list/],
    ['has a hole', [ask, undefined, ask], /messages\[1\] is undefined/],
    ['has an unknown role', [{ role: 'tool', content: 'x' }], /messages\[0\].*role/],
    [
      'begins with a system message',
      [{ role: 'system', content: 'Be brief.' }, ask],
      /messages\[0\].*as `system`/,
    ],
    ['begins with an answer', [answer, ask], /messages\[0\].*begins with the user/],
    ['ends with an answer', [ask, answer], /messages\[1\].*end with a message of the user/],
    ['says nothing', [{ role: 'user', content: '' }], /messages\[0\], the last, has no content/],
    [
      'ends with nothing',
      [ask, answer, { role: 'user', content: [] }],
      /messages\[2\], the last, has no content/,
    ],
    ['has a result without a call', [ask, answer, result('a')], /messages\[2\].*no message before it makes/],
    [
      'has a late result',
      [ask, call('a'), ask, answer, result('a')],
      /messages\[4\].*of messages\[1\].*right after/,
    ],
    ['has two results', [ask, call('a'), result('a'), result('a')], /messages\[3\].*second result/],
    [
      'repeats an id',
      [ask, call('a'), result('a'), call('a'), result('a')],
      /messages\[3\].*messages\[1\].*id of its own/,
    ],
    [
      'has a result from the assistant',
      [ask, call('a'), { ...result('a'), role: 'assistant' }, ask],
      /messages\[2\].*belongs/,
    ],
  ])('is refused if it %s', async (_, messages, says) => {
    const context = open()
    const asked = context.prepare({ messages: untyped(messages), max_tokens: 100 })
    await expect(asked).rejects.toThrow(UsageError)
    await expect(asked).rejects.toThrow(says)
    // And the context serves all the same.
    expect((await context.prepare({ messages: [ask], max_tokens: 100 })).request.messages).toHaveLength(1)
  })
})

test('a late result is also refused if its call was treated as interrupted', async () => {
  const { client } = connect()
  const context = open()
  const messages: Anthropic.MessageParam[] = [ask, call('a'), ask].map((one) => structuredClone(one) as never)
  const { request } = await context.prepare({ messages, max_tokens: 100 })
  await context.observe(await client.messages.create(request))
  messages.push({ role: 'assistant', content: 'Yes.' }, structuredClone(result('a')) as never)
  await expect(context.prepare({ messages, max_tokens: 100 })).rejects.toThrow(/messages\[4\]/)
})

test('the error names what is missing besides the history', async () => {
  expect(() => createContext({ model: untyped(undefined) })).toThrow(/`model` is undefined: name the model/)
  expect(() => createAgent({ client: connect().client, model: '' })).toThrow(/`model` is empty/)
  const asked = open().prepare(untyped({ messages: [ask] }))
  await expect(asked).rejects.toThrow(/`max_tokens` is missing/)
})

test('a stream or a promise is not accepted as an answer', async () => {
  const { client } = connect()
  const context = open()
  const { request } = await context.prepare({ messages: [ask], max_tokens: 100, stream: true })
  const stream = await client.messages.create(request)
  await expect(context.observe(stream)).rejects.toThrow(/a stream.*finalMessage/)
  await expect(context.observe(Promise.resolve({}))).rejects.toThrow(/a promise.*await/)
  for await (const event of stream) expect(event.type).not.toBe('error')
})

test('using something closed fails with an error that says so', async () => {
  const { client, simulator } = connect()
  const context = createContext({ model: MODEL })
  await context.prepare({ messages: [ask], max_tokens: 100 })
  await context.close()
  await context.close()
  await expect(context.describe()).rejects.toThrow(/This context is closed/)
  const agent = createAgent({ client, model: MODEL })
  for await (const event of agent.send('Hello.')) expect(event.type).toBeTypeOf('string')
  const asked = simulator.requests().length
  await agent.close()
  await agent.close()
  await expect(agent.send('Again?').next()).rejects.toThrow(/This agent is closed/)
  await expect(agent.context()).rejects.toThrow(/This agent is closed/)
  expect(simulator.requests()).toHaveLength(asked)
})

test('an empty request is not sent', async () => {
  const { client, simulator } = connect()
  const agent = createAgent({ client, model: MODEL })
  onTestFinished(async () => await agent.close())
  for (const nothing of ['', ' \n', { content: [] }])
    await expect(agent.send(nothing).next()).rejects.toThrow(/nothing to send/)
  expect(simulator.requests()).toHaveLength(0)
})

test('a client that is wrapped twice is managed once, by the newest options', async () => {
  const { client } = connect()
  const opened: string[] = []
  const once = withPalimpsest(client, { onConversation: () => void opened.push('first') })
  const twice = withPalimpsest(once, { onConversation: () => void opened.push('second') })
  expect(twice.middleware).toHaveLength(once.middleware.length)
  await twice.messages.create({ model: MODEL, max_tokens: 100, messages: [ask] })
  expect(opened).toEqual(['second'])
  await once.messages.create({ model: MODEL, max_tokens: 100, messages: [ask] })
  expect(opened).toEqual(['second', 'first'])
})

test('for an invalid request a managed client reports what the server says', async () => {
  const { client } = connect()
  const managed = withPalimpsest(client)
  for (const messages of [[{ role: 'user', content: null }], [answer, ask], [ask, answer, result('a')]])
    await expect(
      managed.messages.create({ model: MODEL, max_tokens: 100, messages: untyped(messages) }),
    ).rejects.toThrow(Anthropic.BadRequestError)
})

describe('what the API refuses but can be expressed in another way is sent', () => {
  test.each<[string, readonly object[], object]>([
    ['an empty text', [{ type: 'tool_result', tool_use_id: 'a', content: '' }], { content: '(no output)' }],
    ['no content', [{ type: 'tool_result', tool_use_id: 'a' }], { content: '(no output)' }],
    ['no blocks', [{ type: 'tool_result', tool_use_id: 'a', content: [] }], { content: '(no output)' }],
    [
      'a blank text beside another',
      [
        {
          type: 'tool_result',
          tool_use_id: 'a',
          content: [
            { type: 'text', text: ' ' },
            { type: 'text', text: 'x' },
          ],
        },
      ],
      { content: [{ type: 'text', text: 'x' }] },
    ],
  ])('a result with %s', async (_, content, sent) => {
    const { client } = connect()
    const context = open()
    const messages = [ask, call('a'), { role: 'user', content: untyped(content) }] as const
    const { request } = await context.prepare({ messages, max_tokens: 100, tools: TOOLS })
    expect(JSON.stringify(request.messages[2])).toContain(JSON.stringify(sent).slice(1, -1))
    expect((await client.messages.create(request)).type).toBe('message')
  })

  test('ids with other characters stay apart, even when the conversation is reopened', async () => {
    const { client } = connect()
    const context = open()
    const messages = [ask, call('a b'), result('a b'), call('a/b'), result('a/b')] as const
    const { request } = await context.prepare({ messages, max_tokens: 100, tools: TOOLS })
    expect((await client.messages.create(request)).type).toBe('message')
    expect(JSON.stringify(request.messages)).toMatch(/"a_b_\w{8}"/)
    const again = await context.prepare({
      messages: structuredClone(messages),
      max_tokens: 100,
      tools: TOOLS,
    })
    expect(again.plan.history).toEqual({ change: 'appended', from: messages.length })
  })
})

const TOOLS: Anthropic.Tool[] = [{ name: 'read', input_schema: { type: 'object' } }]

test('a requested compaction returns plain facts, and its id restores what left', async () => {
  const context = open()
  const messages = Array.from({ length: 20 }, (_, i) =>
    i % 2 === 0 ? { ...ask, content: `${i}: ${'The tide is high. '.repeat(200)}` } : answer,
  )
  const asked: Anthropic.MessageParam[] = [...messages, ask]
  await context.prepare({ messages: asked, max_tokens: 100 })
  const outcome = await context.compact()
  expect(Object.keys(outcome).toSorted()).toEqual(['id', 'kind', 'path', 'summary'])
  const id = outcome.kind === 'compacted' ? outcome.id : ''
  const recalled = await context.recall(id)
  expect(recalled.kind === 'texts' && recalled.texts.some(({ text }) => text.startsWith('0: The tide'))).toBe(
    true,
  )
  expect(await context.restore(id)).toEqual({ kind: 'is-compaction', id })
  expect(await context.undo(id)).toMatchObject({ kind: 'undone' })
})
